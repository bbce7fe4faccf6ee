package value

import (
	"math/big"
	"math/bits"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// Decimal is an exact decimal in the smallest units of its column: cents in decimal(18,2). The column's type stands in the tag of
// a field: `crisol:"price,decimal(18,2)"`.
type Decimal struct {
	units decimal128.Num
	scale int32
}

// DecimalOf makes a decimal of its smallest units: DecimalOf(1250, 2) is 12.50.
func DecimalOf(units int64, scale int32) Decimal {
	return Decimal{units: decimal128.FromI64(units), scale: scale}
}

// Units are the smallest units, with a sign.
func (d Decimal) Units() decimal128.Num { return d.units }

// Scale is how many digits stand after the point.
func (d Decimal) Scale() int32 { return d.scale }

// Sign is -1, 0 or 1.
func (d Decimal) Sign() int { return d.units.Sign() }

// Cmp is -1, 0 or 1, as d is less than, equal to or greater than another; scales may differ.
func (d Decimal) Cmp(other Decimal) int {
	if d.scale == other.scale {
		return d.units.Cmp(other.units)
	}
	a, b := d.units.BigInt(), other.units.BigInt()
	scale := func(n *big.Int, by int32) { n.Mul(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(by)), nil)) }
	if d.scale < other.scale {
		scale(a, other.scale-d.scale)
	} else {
		scale(b, d.scale-other.scale)
	}
	return a.Cmp(b)
}

// Add gives the sum of two decimals of one scale.
func (d Decimal) Add(other Decimal) Decimal { return Decimal{d.units.Add(other.units), d.scale} }

func (d Decimal) String() string {
	digits := d.units.BigInt().String()
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	if d.scale == 0 {
		return sign + digits
	}
	if missing := int(d.scale) + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	at := len(digits) - int(d.scale)
	return sign + digits[:at] + "." + digits[at:]
}

// ParseDecimal reads 12.5, -0.125 or 1e2 as a decimal of so many digits, so many of them after the point. Digits after the last
// place are rounded half up. It is false when the text is no number or has too many digits.
func ParseDecimal(text string, precision, scale int32) (Decimal, bool) {
	units, ok := parseShort(text, precision, scale)
	if !ok {
		units, ok = parseAny(text, precision, scale)
	}
	return Decimal{units, scale}, ok
}

var powers = func() (powers [19]uint64) {
	powers[0] = 1
	for i := 1; i < len(powers); i++ {
		powers[i] = powers[i-1] * 10
	}
	return powers
}()

// Up to 18 digits, without exponent and without rounding: nearly all that there are.
func parseShort(text string, precision, scale int32) (decimal128.Num, bool) {
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	var value uint64
	point := -1
	for i := 0; i < len(text); i++ {
		if digit := text[i] - '0'; digit <= 9 {
			value = value*10 + uint64(digit)
		} else if text[i] == '.' && point < 0 && i > 0 && i+1 < len(text) {
			point = i
		} else {
			return decimal128.Num{}, false
		}
	}
	digits, places := len(text), 0
	if point >= 0 {
		digits, places = len(text)-1, len(text)-point-1
	}
	if digits == 0 || digits > 18 || places > int(scale) || int(scale)-places > 18 {
		return decimal128.Num{}, false
	}
	high, low := bits.Mul64(value, powers[int(scale)-places])
	units := decimal128.New(int64(high), low)
	if negative {
		units = units.Negate()
	}
	return units, units.FitsInPrecision(precision)
}

// Most digits of a decimal.
const digitsMax = 38

// Longer than any number in a message.
const exponentMax = 100_000_000

func parseAny(text string, precision, scale int32) (decimal128.Num, bool) {
	negative := strings.HasPrefix(text, "-")
	mantissa, exponent := strings.TrimPrefix(text, "-"), 0
	if at := strings.IndexAny(mantissa, "eE"); at >= 0 {
		var ok bool
		if exponent, ok = parseExponent(mantissa[at+1:]); !ok {
			return decimal128.Num{}, false
		}
		mantissa = mantissa[:at]
	}
	whole, fraction, point := strings.Cut(mantissa, ".")
	if whole == "" || (point && fraction == "") {
		return decimal128.Num{}, false
	}
	digits := whole + fraction
	if strings.Trim(digits, "0123456789") != "" {
		return decimal128.Num{}, false
	}
	// Digits that stay, counted from the first one that is not 0; the next one rounds.
	kept := len(whole) - len(digits) + exponent + int(scale)
	digits = strings.TrimLeft(digits, "0")
	kept += len(digits)
	if digits == "" {
		return decimal128.Num{}, true
	}
	if kept > digitsMax {
		return decimal128.Num{}, false
	}
	rounds := kept >= 0 && kept < len(digits) && digits[kept] >= '5'
	switch {
	case kept <= 0:
		digits = "0"
	case kept <= len(digits):
		digits = digits[:kept]
	default:
		digits += strings.Repeat("0", kept-len(digits))
	}
	value, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		return decimal128.Num{}, false
	}
	if rounds {
		value.Add(value, big.NewInt(1))
	}
	if negative {
		value.Neg(value)
	}
	units := decimal128.FromBigInt(value)
	return units, units.FitsInPrecision(precision)
}

func parseExponent(text string) (int, bool) {
	negative := strings.HasPrefix(text, "-")
	digits := strings.TrimPrefix(strings.TrimPrefix(text, "-"), "+")
	if negative != strings.HasPrefix(text, "-") || digits == "" || len(digits) < len(text)-1 {
		return 0, false
	}
	value := 0
	for _, digit := range digits {
		if digit < '0' || digit > '9' {
			return 0, false
		}
		value = min(value*10+int(digit-'0'), exponentMax)
	}
	if negative {
		value = -value
	}
	return value, true
}

// DecimalFrom makes a decimal of its smallest units.
func DecimalFrom(units decimal128.Num, scale int32) Decimal { return Decimal{units, scale} }

// Rescale gives the units at another scale; those after its last place are rounded half up.
func (d Decimal) Rescale(scale int32) decimal128.Num {
	if d.scale == scale {
		return d.units
	}
	if d.scale < scale {
		return d.units.IncreaseScaleBy(scale - d.scale)
	}
	return d.units.ReduceScaleBy(d.scale-scale, true)
}
