package postgres

// The statements that sqlc generates for :batchexec and :batchone are sent as one batch, in one round trip. The first
// failing statement ends the transaction, so its error is the batch's error.

// BatchExec runs a batch of statements without rows.
func BatchExec(exec func(each func(i int, err error))) error {
	var first error
	exec(func(_ int, err error) {
		if first == nil {
			first = err
		}
	})
	return first
}

// Batch runs a batch of statements with one row each.
func Batch[Row any](query func(each func(i int, row Row, err error)), each func(i int, row Row)) error {
	var first error
	query(func(i int, row Row, err error) {
		if first == nil {
			first = err
		}
		if err == nil {
			each(i, row)
		}
	})
	return first
}
