// Rules over orders: the amount is positive, the currency is known, the event is not of a day to come.
package main

import (
	"slices"
	"strings"
	"time"

	crisol "github.com/crisol/crisol/sdk/go"
	"github.com/crisol/crisol/sdk/go/validator"
)

// How far a sender's clock may run ahead.
const ahead = 24 * time.Hour

// Options of a contract.
type Options struct {
	Currencies []string `json:"currencies,omitempty" doc:"Currencies that are accepted; all when absent. A null currency passes." schema:"{\"minItems\": 1}"`
}

// Order is what the rules look at.
type Order struct {
	EventTS  crisol.Null[crisol.Timestamp] `crisol:"event_ts"`
	Amount   crisol.Null[crisol.Decimal]   `crisol:"amount,decimal(18,2)"`
	Currency crisol.Null[string]           `crisol:"currency"`
}

var about = crisol.About{Name: "order-rules-go", Version: "0.1.0", Reuse: true}

func init() { validator.Serve(about, open) }

func main() {}

func open(options Options, batch crisol.Batch) (validator.Check[Order], error) {
	latest := batch.Timestamp.Add(ahead)
	return func(row *Order, broken *validator.Broken) error {
		if row.Amount.Valid && row.Amount.Value.Sign() <= 0 {
			broken.Reject("amount_not_positive", "amount is %s", row.Amount.Value)
		}
		if row.Currency.Valid && options.Currencies != nil && !slices.Contains(options.Currencies, row.Currency.Value) {
			known := strings.Join(options.Currencies, ", ")
			broken.Reject("unknown_currency", "`%s` is none of %s", row.Currency.Value, known)
		}
		if row.EventTS.Valid && row.EventTS.Value > latest {
			broken.Reject("event_in_future", "event_ts %s is more than a day ahead", row.EventTS.Value)
		}
		return nil
	}, nil
}
