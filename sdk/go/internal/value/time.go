package value

import "time"

// Timestamp is a moment, in microseconds since 1970-01-01 UTC.
type Timestamp int64

// Date is a day, in days since 1970-01-01.
type Date int32

const (
	second = 1_000_000
	minute = 60 * second
	hour   = 60 * minute
	day    = 24 * hour
)

// Time gives it as the standard library has it, in UTC.
func (t Timestamp) Time() time.Time { return time.UnixMicro(int64(t)).UTC() }

// Add gives a moment so much later.
func (t Timestamp) Add(d time.Duration) Timestamp { return t + Timestamp(d.Microseconds()) }

// Date gives the day, in UTC.
func (t Timestamp) Date() Date {
	days := int64(t) / day
	if int64(t)%day < 0 {
		days--
	}
	return Date(days)
}

// String is RFC 3339, with six digits after the seconds where they are not all zero: as the SDKs of other languages write it.
func (t Timestamp) String() string {
	form := "2006-01-02T15:04:05Z"
	if int64(t)%second != 0 {
		form = "2006-01-02T15:04:05.000000Z"
	}
	return t.Time().Format(form)
}

// Time gives midnight of the day, in UTC.
func (d Date) Time() time.Time { return time.Unix(int64(d)*86_400, 0).UTC() }

func (d Date) String() string { return d.Time().Format(time.DateOnly) }

// ParseTimestamp reads RFC 3339 and its relatives: 2026-03-14T09:26:53.589Z, 2026-03-14 09:26:53+01:00, 2026-03-14T09:26,
// 2026-03-14. Without an offset it is UTC; digits after the microseconds are cut.
func ParseTimestamp(text string) (Timestamp, bool) {
	days, rest, ok := readDay(text)
	if !ok {
		return 0, false
	}
	micros := int64(days) * day
	if rest == "" {
		return Timestamp(micros), true
	}
	if rest[0] != 'T' && rest[0] != 't' && rest[0] != ' ' {
		return 0, false
	}
	clock, rest, ok := readClock(rest[1:])
	if !ok {
		return 0, false
	}
	offset, ok := readOffset(rest)
	return Timestamp(micros + clock - offset), ok
}

// ParseDate reads 2026-03-14, of the years 0001 to 9999.
func ParseDate(text string) (Date, bool) {
	days, rest, ok := readDay(text)
	return Date(days), ok && rest == ""
}

// A number of so many digits, and what follows.
func readNumber(text string, digits, most int) (int, string, bool) {
	if len(text) < digits {
		return 0, text, false
	}
	value := 0
	for i := 0; i < digits; i++ {
		digit := text[i] - '0'
		if digit > 9 {
			return 0, text, false
		}
		value = value*10 + int(digit)
	}
	return value, text[digits:], value <= most
}

func after(text string, sign byte) (string, bool) {
	if len(text) == 0 || text[0] != sign {
		return text, false
	}
	return text[1:], true
}

func readDay(text string) (int, string, bool) {
	year, rest, ok := readNumber(text, 4, 9999)
	if !ok || year == 0 {
		return 0, rest, false
	}
	if rest, ok = after(rest, '-'); !ok {
		return 0, rest, false
	}
	month, rest, ok := readNumber(rest, 2, 12)
	if !ok || month == 0 {
		return 0, rest, false
	}
	if rest, ok = after(rest, '-'); !ok {
		return 0, rest, false
	}
	dayOf, rest, ok := readNumber(rest, 2, 31)
	if !ok || dayOf == 0 || dayOf > length(year, month) {
		return 0, rest, false
	}
	return civilDays(year, month, dayOf), rest, true
}

func length(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// Days since 1970 of a day of the civil calendar; years begin in March and count from -400 on, so that nothing is negative.
func civilDays(year, month, dayOf int) int {
	year += 400
	if month <= 2 {
		year--
		month += 9
	} else {
		month -= 3
	}
	return year*365 + year/4 - year/100 + year/400 + (153*month+2)/5 + dayOf - 1 - 146_097 - 719_468
}

func readClock(text string) (int64, string, bool) {
	hours, rest, ok := readNumber(text, 2, 23)
	if !ok {
		return 0, rest, false
	}
	if rest, ok = after(rest, ':'); !ok {
		return 0, rest, false
	}
	minutes, rest, ok := readNumber(rest, 2, 59)
	if !ok {
		return 0, rest, false
	}
	micros := int64(hours)*hour + int64(minutes)*minute
	seconds, there := after(rest, ':')
	if !there {
		return micros, rest, true
	}
	value, rest, ok := readNumber(seconds, 2, 59)
	if !ok {
		return 0, rest, false
	}
	fraction, rest, ok := readFraction(rest)
	return micros + int64(value)*second + fraction, rest, ok
}

// Microseconds of .589 and what follows; up to nine digits, those after the microseconds are cut.
func readFraction(text string) (int64, string, bool) {
	digits, there := after(text, '.')
	if !there {
		return 0, text, true
	}
	count := 0
	for count < len(digits) && digits[count]-'0' <= 9 {
		count++
	}
	if count == 0 || count > 9 {
		return 0, text, false
	}
	var micros int64
	for i := 0; i < 6; i++ {
		micros *= 10
		if i < count {
			micros += int64(digits[i] - '0')
		}
	}
	return micros, digits[count:], true
}

// Microseconds of an offset that ends the text.
func readOffset(text string) (int64, bool) {
	if text == "" || text == "Z" || text == "z" {
		return 0, true
	}
	if text[0] != '+' && text[0] != '-' {
		return 0, false
	}
	hours, rest, ok := readNumber(text[1:], 2, 18)
	if !ok {
		return 0, false
	}
	minutes := 0
	if rest != "" {
		rest, _ = after(rest, ':')
		if minutes, rest, ok = readNumber(rest, 2, 59); !ok {
			return 0, false
		}
	}
	offset := int64(hours)*hour + int64(minutes)*minute
	if text[0] == '-' {
		offset = -offset
	}
	return offset, rest == ""
}
