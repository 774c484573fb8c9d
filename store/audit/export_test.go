package audit

// Unchanged is the beginning of an SQL condition. The condition is true if the statement that ran a trigger has
// changed no row.
const Unchanged = unchanged

// AuditedTable is a row of the list of audited tables.
type AuditedTable struct{ Name, Object, Exempt string }

// AuditedTables returns the list of audited tables.
func AuditedTables() (rows []AuditedTable) {
	for _, t := range auditedTables() {
		rows = append(rows, AuditedTable{t.name, t.object, t.exempt})
	}
	return rows
}

// AuditedColumn is a column that the audit log shows, as table.column.
type AuditedColumn struct {
	Name           string
	Secret, Hashed bool
}

// AuditedColumns returns all columns that the audit log shows.
func AuditedColumns() (columns []AuditedColumn) {
	for _, t := range auditedTables() {
		for _, c := range t.shown() {
			columns = append(columns, AuditedColumn{t.name + "." + c.column, c.secret, c.hashed})
		}
	}
	return columns
}
