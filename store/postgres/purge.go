package postgres

// These are the numbers of rows that one statement of a purge deletes. The number is smaller if rows are large.
const (
	PurgeRows  = 1000
	PurgeLarge = 50
)

// PurgeAll calls each function until the function finds no more rows. Each call deletes a limited number of rows.
func PurgeAll(parts []func() (int64, error)) error {
	for _, part := range parts {
		for {
			n, err := part()
			if err != nil {
				return err
			}
			if n == 0 {
				break
			}
		}
	}
	return nil
}
