package crisol_test

import (
	"testing"

	crisol "github.com/crisol/crisol/sdk/go"
)

type item struct {
	SKU string `crisol:"sku"`
	Qty int32  `crisol:"qty"`
}

type sale struct {
	SKU    string                                 `crisol:"sku"`
	SoldAt crisol.Timestamp                       `crisol:"sold_at"`
	Price  crisol.Null[crisol.Decimal]            `crisol:"price,decimal(18,2)"`
	Items  []item                                 `crisol:"items"`
	Marks  crisol.Map[string, crisol.Null[int64]] `crisol:"marks"`
}

const good = `{"sku":"a-1","sold_at":"2026-03-14","items":[{"sku":"x","qty":2}],"marks":{"b":1,"a":null},"more":[{}]}`

func TestAMessageBecomesAStruct(t *testing.T) {
	read, err := crisol.FromJSON[sale](good)
	if err != nil || read.SKU != "a-1" || read.Price.Valid || len(read.Items) != 1 || read.Items[0].Qty != 2 {
		t.Fatal(read, err)
	}
	if len(read.Marks) != 2 || read.Marks[0].Key != "b" || read.Marks[1].Value.Valid {
		t.Fatal("entries keep their order, and nulls", read.Marks)
	}
}

func TestFaultsNameFieldAndCause(t *testing.T) {
	for message, wanted := range map[string]string{
		"no JSON":                     "corrupt_record: not a JSON object: expected an object at character 1",
		"":                            "corrupt_record: the message is empty",
		`{"sku":"a","sku":"b"}`:       "corrupt_record: `sku`: it is there twice",
		`{"sku":null,"sku":"b"}`:      "corrupt_record: `sku`: it is there twice",
		`{"sku":null,"sold_at":1}`:    "corrupt_record: `sold_at`: 1 is not a timestamp",
		`{"sku":1}`:                   "corrupt_record: `sku`: 1 is not a string",
		`{"sku":"a","sold_at":"now"}`: "corrupt_record: `sold_at`: \"now\" is not a timestamp",
		`{"sold_at":"2026-03-14"}`:    "not_null: sku: `sku`: it is null or absent",
		good + "x":                    "corrupt_record: not a JSON object: expected the end at character 104",
		`{"sku":"a","sold_at":"2026-03-14","items":[{"qty":null,"qty":1}]}`:   "corrupt_record: `items[0].qty`: it is there twice",
		`{"sku":"a","sold_at":"2026-03-14","items":[{"sku":"x","qty":1.5}]}`:  "corrupt_record: `items[0].qty`: 1.5 is not an int",
		`{"sku":"a","sold_at":"2026-03-14","items":[{"sku":"x","qty":1},{}]}`: "not_null: items: `items[1].sku`: it is null or absent",
		`{"sku":"a","sold_at":"2026-03-14","marks":{"b":1,"c":1,"b":2}}`:      "corrupt_record: `marks[\"b\"]`: the key is there twice",
		`{"sku":"a","sold_at":"2026-03-14","price":1e99}`:                     "corrupt_record: `price`: 1e99 is not a decimal(18,2)",
	} {
		_, err := crisol.FromJSON[sale](message)
		if err == nil || err.Error() != wanted {
			t.Errorf("%s: %v, not %s", message, err, wanted)
		}
	}
}
