package value

import (
	"strings"
	"testing"
)

func TestNumbersAreReadExactlyAndRoundedHalfUp(t *testing.T) {
	for text, wanted := range map[string]string{
		"0": "0.00", "12.5": "12.50", "-0.01": "-0.01", "12.345": "12.35", "12.344999999999999999999": "12.34",
		"-12.345": "-12.35", "0.005": "0.01", "0.0049": "0.00", "1e2": "100.00", "1.5E-1": "0.15", "1e-400": "0.00",
		"0e999999999999": "0.00", "9999999999999999.99": "9999999999999999.99",
		"00000000000000000000001.00000000000000000000000": "1.00",
	} {
		if read, ok := ParseDecimal(text, 18, 2); !ok || read.String() != wanted {
			t.Errorf("%s: %s %v, not %s", text, read, ok, wanted)
		}
	}
	for _, text := range []string{
		"", "-", ".", "1.", ".5", "1e", "1e+", "+1", "1_0", "mucho", "NaN", "1.2.3", "10000000000000000", "9e99999", "9999999999999999.995", "1e--1", "1e-+1",
	} {
		if read, ok := ParseDecimal(text, 18, 2); ok {
			t.Errorf("%q is read as %s", text, read)
		}
	}
}

func TestExponentsMayMakeUpForLongNumbers(t *testing.T) {
	zeroes := strings.Repeat("0", 2000)
	for text, wanted := range map[string]string{
		"0." + zeroes + "1e2001": "1.00", "1" + zeroes + "e-2000": "1.00", "-0." + zeroes + "125E+2003": "-125.00",
		"1" + zeroes + "e-2003": "0.00", "5" + zeroes + "e-2003": "0.01", "0." + zeroes + "e99999999999": "0.00",
	} {
		if read, ok := ParseDecimal(text, 18, 2); !ok || read.String() != wanted {
			t.Errorf("%s: %s %v, not %s", text, read, ok, wanted)
		}
	}
	for _, text := range []string{"1" + zeroes + "e-1000", "0." + zeroes + "1e9999999999"} {
		if read, ok := ParseDecimal(text, 18, 2); ok {
			t.Errorf("%s is read as %s", text, read)
		}
	}
}

func TestDecimalsOf38Digits(t *testing.T) {
	wide := strings.Repeat("9", 38)
	if read, ok := ParseDecimal(wide, 38, 0); !ok || read.String() != wide {
		t.Error(read, ok)
	}
	if _, ok := ParseDecimal(wide+"0", 38, 0); ok {
		t.Error("39 digits are too many")
	}
	if read, ok := ParseDecimal("1.5", 38, 37); !ok || read.String() != "1.5"+strings.Repeat("0", 36) {
		t.Error(read, ok)
	}
}

func TestDecimalsAreCompared(t *testing.T) {
	if DecimalOf(150, 2).Cmp(DecimalOf(15, 1)) != 0 || DecimalOf(-1, 2).Cmp(DecimalOf(0, 0)) != -1 {
		t.Error("scales may differ")
	}
}
