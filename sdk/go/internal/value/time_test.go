package value

import "testing"

func TestTimestampsAreRead(t *testing.T) {
	for text, wanted := range map[string]string{
		"2026-03-14": "2026-03-14T00:00:00Z", "2026-03-14T09:26:53.589Z": "2026-03-14T09:26:53.589000Z",
		"2026-03-14 09:26:53+01:00": "2026-03-14T08:26:53Z", "2026-03-14T09:26": "2026-03-14T09:26:00Z",
		"2026-03-14T09:26:53.123456789Z": "2026-03-14T09:26:53.123456Z", "1969-12-31T23:59:59.999999Z": "1969-12-31T23:59:59.999999Z",
		"0001-01-01": "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z": "9999-12-31T23:59:59Z", "2024-02-29": "2024-02-29T00:00:00Z",
		"2026-03-14T09:26:53-0530": "2026-03-14T14:56:53Z",
	} {
		if read, ok := ParseTimestamp(text); !ok || read.String() != wanted {
			t.Errorf("%s: %s %v, not %s", text, read, ok, wanted)
		}
	}
	for _, text := range []string{
		"", "yesterday", "2026-13-01", "2026-02-29", "0000-01-01", "2026-03-14T24:00:00Z", "2026-03-14T09", "2026-03-14T09:26:60Z",
		"2026-03-14T09:26:53.Z", "2026-03-14T09:26:53+19:00", "2026-03-14Z", "2026-3-14", "2026-03-14T09:26:53Z more",
	} {
		if read, ok := ParseTimestamp(text); ok {
			t.Errorf("%q is read as %s", text, read)
		}
	}
}

func TestDays(t *testing.T) {
	if read, ok := ParseDate("1970-01-02"); !ok || read != 1 {
		t.Error(read, ok)
	}
	if _, ok := ParseDate("1970-01-02T00:00:00Z"); ok {
		t.Error("a date is a day alone")
	}
	if day := Timestamp(-1).Date(); day.String() != "1969-12-31" {
		t.Error(day)
	}
}
