// Decodes the JSON messages of orders.v1. Version 2 added customer_id, country and currency.
package main

import (
	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/decoder"
)

// Order is an order.
type Order struct {
	OrderID       string              `crisol:"order_id"`
	EventTS       crisol.Timestamp    `crisol:"event_ts"`
	Amount        crisol.Decimal      `crisol:"amount,decimal(18,2)"`
	SchemaVersion int32               `crisol:"schema_version"`
	CustomerID    crisol.Null[string] `crisol:"customer_id"`
	Country       crisol.Null[string] `crisol:"country"`
	Currency      crisol.Null[string] `crisol:"currency"`
}

var about = crisol.About{Name: "orders-go", Version: "0.1.0", SchemaVersions: "1..2", Reuse: true}

func init() { decoder.Serve(about, open) }

func main() {}

func open(crisol.NoOptions, crisol.Batch) (decoder.Decode[Order], error) { return decode, nil }

func decode(message string) (Order, error) {
	order, err := crisol.FromJSON[Order](message)
	if err != nil {
		return order, err
	}
	if v := order.SchemaVersion; v != 1 && v != 2 {
		return order, crisol.Reject("unsupported_schema_version", "version %d; 1 and 2 are known", v)
	}
	return order, nil
}
