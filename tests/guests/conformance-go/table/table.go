// Package table has what the conformance stages share.
package table

import (
	"fmt"
	"slices"

	crisol "github.com/crisol/crisol/sdk/go"
)

// Asking are the options of every stage.
type Asking struct {
	Log  string `json:"log,omitempty"`
	Fail string `json:"fail,omitempty" schema:"{\"enum\": [\"open\", \"push\", \"finish\", \"trap\"]}"`
}

// Check refuses what cannot be asked.
func (a *Asking) Check() error {
	if !slices.Contains([]string{"", "open", "push", "finish", "trap"}, a.Fail) {
		return fmt.Errorf("`fail`: %q is no place to fail", a.Fail)
	}
	return nil
}

// Check refuses numbers that divide nothing, too.
func (r *Rejecting) Check() error {
	if err := r.Asking.Check(); err != nil {
		return err
	}
	return AtLeastOne(r.RejectEvery, r.FilterEvery)
}

// AtLeastOne refuses numbers that are given and less.
func AtLeastOne(numbers ...*int) error {
	for _, number := range numbers {
		if number != nil && *number < 1 {
			return fmt.Errorf("%d is less than 1", *number)
		}
	}
	return nil
}

// Open does what is asked at the start.
func (a Asking) Open() error {
	if a.Log != "" {
		crisol.Log(crisol.Info, "%s", a.Log)
	}
	return a.at("open")
}

// Push does what is asked when rows come.
func (a Asking) Push() error {
	if a.Fail == "trap" {
		panic("asked to trap")
	}
	return a.at("push")
}

// Finish does what is asked at the end.
func (a Asking) Finish() error { return a.at("finish") }

func (a Asking) at(where string) error {
	if a.Fail == where {
		return crisol.Fail("asked", "to fail in %s", where)
	}
	return nil
}

// Rejecting are the options of stages that reject rows.
type Rejecting struct {
	Asking
	RejectEvery *int `json:"reject_every,omitempty" schema:"{\"minimum\": 1}"`
	FilterEvery *int `json:"filter_every,omitempty" schema:"{\"minimum\": 1}"`
}

// Every is whether a number is one of so many; none is when that is not given.
func Every(every *int, number int) bool { return every != nil && number%*every == 0 }

// Refused is the rejection of a row.
func Refused(number int, s crisol.Null[string]) *crisol.Rejection {
	said := "null"
	if s.Valid {
		said = s.Value
	}
	return crisol.Reject("every", "%s", fmt.Sprintf("row %d: %s", number, said))
}

// Part is a struct column.
type Part struct {
	A crisol.Null[int32]  `crisol:"a"`
	B crisol.Null[string] `crisol:"b"`
}

// Deep is an element of a list of structs.
type Deep struct {
	K crisol.Null[string]                 `crisol:"k"`
	V crisol.Null[[]crisol.Null[float64]] `crisol:"v"`
}

// JSON has every type that JSON has.
type JSON struct {
	B     crisol.Null[bool]                                   `crisol:"b"`
	I8    crisol.Null[int8]                                   `crisol:"i8"`
	I16   crisol.Null[int16]                                  `crisol:"i16"`
	I32   crisol.Null[int32]                                  `crisol:"i32"`
	I64   crisol.Null[int64]                                  `crisol:"i64"`
	F32   crisol.Null[float32]                                `crisol:"f32"`
	F64   crisol.Null[float64]                                `crisol:"f64"`
	D9    crisol.Null[crisol.Decimal]                         `crisol:"d9,decimal(9,2)"`
	D18   crisol.Null[crisol.Decimal]                         `crisol:"d18,decimal(18,4)"`
	D38   crisol.Null[crisol.Decimal]                         `crisol:"d38,decimal(38,10)"`
	S     crisol.Null[string]                                 `crisol:"s"`
	Day   crisol.Null[crisol.Date]                            `crisol:"day"`
	TS    crisol.Null[crisol.Timestamp]                       `crisol:"ts"`
	Ints  crisol.Null[[]crisol.Null[int32]]                   `crisol:"ints"`
	Texts crisol.Null[[]crisol.Null[string]]                  `crisol:"texts"`
	St    crisol.Null[Part]                                   `crisol:"st"`
	M     crisol.Null[crisol.Map[string, crisol.Null[int64]]] `crisol:"m"`
	Deep  crisol.Null[[]crisol.Null[Deep]]                    `crisol:"deep"`
}

// Row has every type.
type Row struct {
	B     crisol.Null[bool]                                   `crisol:"b"`
	I8    crisol.Null[int8]                                   `crisol:"i8"`
	I16   crisol.Null[int16]                                  `crisol:"i16"`
	I32   crisol.Null[int32]                                  `crisol:"i32"`
	I64   crisol.Null[int64]                                  `crisol:"i64"`
	F32   crisol.Null[float32]                                `crisol:"f32"`
	F64   crisol.Null[float64]                                `crisol:"f64"`
	D9    crisol.Null[crisol.Decimal]                         `crisol:"d9,decimal(9,2)"`
	D18   crisol.Null[crisol.Decimal]                         `crisol:"d18,decimal(18,4)"`
	D38   crisol.Null[crisol.Decimal]                         `crisol:"d38,decimal(38,10)"`
	S     crisol.Null[string]                                 `crisol:"s"`
	Bin   crisol.Null[[]byte]                                 `crisol:"bin"`
	Day   crisol.Null[crisol.Date]                            `crisol:"day"`
	TS    crisol.Null[crisol.Timestamp]                       `crisol:"ts"`
	Ints  crisol.Null[[]crisol.Null[int32]]                   `crisol:"ints"`
	Texts crisol.Null[[]crisol.Null[string]]                  `crisol:"texts"`
	St    crisol.Null[Part]                                   `crisol:"st"`
	M     crisol.Null[crisol.Map[string, crisol.Null[int64]]] `crisol:"m"`
	Deep  crisol.Null[[]crisol.Null[Deep]]                    `crisol:"deep"`
}

// Columns are those of Row.
var Columns = []crisol.Column{
	{Name: "b", Type: "boolean", Nullable: true}, {Name: "i8", Type: "tinyint", Nullable: true},
	{Name: "i16", Type: "smallint", Nullable: true}, {Name: "i32", Type: "int", Nullable: true},
	{Name: "i64", Type: "bigint", Nullable: true}, {Name: "f32", Type: "float", Nullable: true},
	{Name: "f64", Type: "double", Nullable: true}, {Name: "d9", Type: "decimal(9,2)", Nullable: true},
	{Name: "d18", Type: "decimal(18,4)", Nullable: true}, {Name: "d38", Type: "decimal(38,10)", Nullable: true},
	{Name: "s", Type: "string", Nullable: true}, {Name: "bin", Type: "binary", Nullable: true},
	{Name: "day", Type: "date", Nullable: true}, {Name: "ts", Type: "timestamp", Nullable: true},
	{Name: "ints", Type: "array<int>", Nullable: true}, {Name: "texts", Type: "array<string>", Nullable: true},
	{Name: "st", Type: "struct<a:int,b:string>", Nullable: true}, {Name: "m", Type: "map<string,bigint>", Nullable: true},
	{Name: "deep", Type: "array<struct<k:string,v:array<double>>>", Nullable: true},
}

// Names are those of Columns.
func Names() []string {
	names := make([]string, len(Columns))
	for i, column := range Columns {
		names[i] = column.Name
	}
	return names
}

// About is what every stage says of itself.
var About = crisol.About{Name: "conformance", Version: "0.1.0", Reuse: true}
