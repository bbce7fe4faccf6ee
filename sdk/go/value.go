package crisol

import "github.com/crisol/crisol/sdk/go/internal/value"

type (
	// Null is a field that may be null; any other never is.
	Null[T any] = value.Null[T]
	// Entry is one key of a map column with its value.
	Entry[K, V any] = value.Entry[K, V]
	// Map is a map column: in order, and with keys as often as they are there.
	Map[K, V any] = value.Map[K, V]
	// Decimal is an exact decimal; its column's type stands in the tag of the field: `crisol:"price,decimal(18,2)"`.
	Decimal = value.Decimal
	// Timestamp is a moment, in microseconds since 1970-01-01 UTC.
	Timestamp = value.Timestamp
	// Date is a day, in days since 1970-01-01.
	Date = value.Date
)

// Some is a value that is not null.
func Some[T any](v T) Null[T] { return value.Some(v) }

// DecimalOf makes a decimal of its smallest units: DecimalOf(1250, 2) is 12.50.
func DecimalOf(units int64, scale int32) Decimal { return value.DecimalOf(units, scale) }

// ParseDecimal reads 12.5, -0.125 or 1e2 as a decimal of so many digits, so many of them after the point. Digits after the last
// place are rounded half up. It is false when the text is no number or has too many digits.
func ParseDecimal(text string, precision, scale int32) (Decimal, bool) {
	return value.ParseDecimal(text, precision, scale)
}

// ParseTimestamp reads RFC 3339 and its relatives: 2026-03-14T09:26:53.589Z, 2026-03-14 09:26:53+01:00, 2026-03-14T09:26,
// 2026-03-14. Without an offset it is UTC; digits after the microseconds are cut.
func ParseTimestamp(text string) (Timestamp, bool) { return value.ParseTimestamp(text) }

// ParseDate reads 2026-03-14, of the years 0001 to 9999.
func ParseDate(text string) (Date, bool) { return value.ParseDate(text) }
