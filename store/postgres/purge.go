package postgres

// PurgeRows is the largest number of rows that one statement of a purge deletes. PurgeLarge is the largest number for
// tables with large rows.
const (
	PurgeRows  = 1000
	PurgeLarge = 50
)

// PurgeAll calls each function repeatedly until the function deletes no more rows. Each call deletes a limited number
// of rows.
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
