// Messages with every type that JSON has.
package main

import (
	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/decoder"
	"github.com/crisol/crisol/tests/guests/conformance-go/table"
)

func init() { decoder.Serve(table.About, open) }

func main() {}

func open(asked table.Asking, _ crisol.Batch) (decoder.Decode[table.JSON], error) {
	if err := asked.Open(); err != nil {
		return nil, err
	}
	return func(message string) (table.JSON, error) {
		if err := asked.Push(); err != nil {
			return table.JSON{}, err
		}
		return crisol.FromJSON[table.JSON](message)
	}, nil
}
