package postgres

// Statements with :batchexec or :batchone are sent as one batch, in one round trip. The first failing statement ends
// the transaction. So BatchExec and Batch return the error of this statement.

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

// Batch runs a batch of statements that return one row each, and calls `each` with every row.
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
