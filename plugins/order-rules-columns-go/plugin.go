// Rules over orders: the amount is positive, the currency is known, the event is not of a day to come. A look at their
// raw values is enough for nearly all rows; only the others are judged.
package main

import (
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/validator"
)

// How far a sender's clock may run ahead.
const ahead = 24 * time.Hour

// Options of a contract.
type Options struct {
	Currencies []string `json:"currencies,omitempty" doc:"Currencies that are accepted; all when absent. A null currency passes." schema:"{\"minItems\": 1}"`
}

var about = crisol.About{Name: "order-rules-columns-go", Version: "0.1.0", Reuse: true}

// What the rules look at, in the order of the columns of a message.
var order = []crisol.Column{
	{Name: "event_ts", Type: "timestamp"},
	{Name: "amount", Type: "decimal(18,2)"},
	{Name: "currency", Type: "string"},
}

func init() { validator.ServeColumns(about, reads, open) }

func main() {}

// Names of the columns, when the input has them with their types.
func reads(_ Options, input []crisol.Column) ([]string, error) {
	names := make([]string, len(order))
	for i, wanted := range order {
		at := slices.IndexFunc(input, func(column crisol.Column) bool { return column.Name == wanted.Name })
		if at < 0 {
			return nil, crisol.Fail("input", "there is no column `%s`", wanted.Name)
		}
		if found := input[at].Type; found != wanted.Type {
			return nil, crisol.Fail("input", "column `%s` is %s, not %s", wanted.Name, found, wanted.Type)
		}
		names[i] = wanted.Name
	}
	return names, nil
}

func open(options Options, _ *arrow.Schema, batch crisol.Batch) (validator.Columns, error) {
	opened := rules{currencies: options.Currencies, latest: batch.Timestamp.Add(ahead)}
	for _, currency := range options.Currencies {
		if len(currency) == letters {
			opened.codes = append(opened.codes, code([]byte(currency)))
		}
	}
	return opened.check, nil
}
