package audit

import (
	"fmt"
	"slices"
	"strings"
)

// auditedRows is the largest number of entries that one statement creates for each organization. If the statement makes
// more changes, one last entry has the number of the remaining changes.
const auditedRows = 100

// unchanged is the beginning of an SQL condition. The condition is true if the statement that ran a trigger has
// changed no row. For example, an upsert that only inserts rows also runs the triggers for updates. Checking this
// condition is ten times cheaper than running the log's insert statement without rows.
const unchanged = "not exists (select from "

// Triggers returns the SQL of the triggers that write the audit log. Each table has three triggers and one function.
// The triggers run once per statement. The function is generated from the table's auditedTable.
func Triggers() string {
	var text strings.Builder
	tables := auditedTables()
	var names []string
	for _, t := range tables {
		if t.exempt == "" {
			names = append(names, "'audit_of_"+t.name+"'")
		}
	}
	fmt.Fprintf(&text, `do $$
declare
    f regprocedure;
begin
    for f in select oid::regprocedure from pg_proc where proname like 'audit\_of\_%%' and pronamespace = current_schema()::regnamespace
        and proname not in (%s) loop
        execute format('drop function %%s cascade', f);
    end loop;
end
$$;
`, strings.Join(names, ", "))
	for _, t := range tables {
		if t.exempt == "" {
			t.writeTriggers(&text)
		}
	}
	return text.String()
}

func (t auditedTable) writeTriggers(text *strings.Builder) {
	columns := t.shown()
	members := func(row, unless string) string {
		var pairs []string
		for _, c := range columns {
			value := c.value(row)
			if unless != "" {
				value = fmt.Sprintf("case when %s.%s is distinct from %s.%s then %s end", row, c.column, unless, c.column, value)
			}
			pairs = append(pairs, "'"+c.member()+"', "+value)
		}
		return "jsonb_strip_nulls(jsonb_build_object(" + strings.Join(pairs, ", ") + "))"
	}
	fmt.Fprintf(text, "create or replace function audit_of_%s() returns trigger language plpgsql as $$\nbegin\n", t.name)
	for _, change := range []struct{ condition, rows, action, before, after, from, where string }{
		{"if tg_op = 'INSERT'", "audit_new", "create", "null::jsonb", members("r", ""), "audit_new r", "true"},
		{"elsif tg_op = 'UPDATE'", "audit_new", "update", members("o", "r"), members("r", "o"), "audit_old o join audit_new r on " + t.sameRow(), t.differs()},
		{"else", "audit_old", "delete", members("r", ""), "null::jsonb", "audit_old r", "true"},
	} {
		then := " then"
		if change.condition == "else" {
			then = ""
		}
		organization := t.in.organization
		if change.action == "update" && slices.Contains(strings.Fields(t.columns), "organization_id") {
			organization = "m.organization_id"
			change.from += " cross join lateral (select o.organization_id union select r.organization_id) m"
		}
		fmt.Fprintf(text, "    %s%s\n        if %s%s) then\n            return null;\n        end if;\n", change.condition, then, unchanged, change.rows)
		fmt.Fprintf(text, `        insert into audit_log (at, organization_id, site_id, space_id, action,
            object_type, object_id, further, before, after, operation,
            actor_type, actor_id, actor_name, token_id, token_kind, request_id, address)
        select (select greatest(clock_timestamp(), creation_time())),
            x.organization_id, case when x.nth <= %[7]d then x.site_id end,
            case when x.nth <= %[7]d then x.space_id end,
            '%[1]s', '%[2]s', case when x.nth <= %[7]d then x.id end, case when x.nth > %[7]d then x.total - %[7]d end,
            case when x.nth <= %[7]d then x.before end, case when x.nth <= %[7]d then x.after end,
            a.operation, a.type, a.id, a.name, a.token_id, a.token_kind, a.request_id, a.address
        from (
            select %[3]s as organization_id, %[4]s as site_id, %[5]s as space_id, %[6]s as id, %[8]s as before, %[9]s as after,
                row_number() over w as nth, count(*) over w as total
            from %[10]s %[11]s
            where %[12]s
            window w as (partition by %[3]s)
        ) x cross join lateral audit_actor(x.organization_id, x.id) a
        where x.nth <= %[7]d + 1 and (x.organization_id is null or exists (
            select from organizations g where g.id = x.organization_id and g.deleted_at is null));
`, change.action, t.object, organization, t.in.site, t.in.space, t.id, auditedRows,
			change.before, change.after, change.from, t.in.join, change.where)
	}
	text.WriteString("    end if;\n    return null;\nend\n$$;\n")
	for _, trigger := range []struct{ event, transition string }{
		{"insert", "new table as audit_new"}, {"update", "old table as audit_old new table as audit_new"}, {"delete", "old table as audit_old"},
	} {
		fmt.Fprintf(text, "create or replace trigger audit_%[2]s after %[2]s on %[1]s\n    referencing %[3]s"+
			" for each statement execute function audit_of_%[1]s();\n", t.name, trigger.event, trigger.transition)
	}
}

// sameRow returns an SQL condition. The condition is true if the rows `o` and `r` have the same key. Key columns
// whose name ends with ? may be null.
func (t auditedTable) sameRow() string {
	var parts []string
	for _, column := range strings.Fields(t.key) {
		if name, nullable := strings.CutSuffix(column, "?"); nullable {
			parts = append(parts, fmt.Sprintf("coalesce(o.%[1]s, '') = coalesce(r.%[1]s, '')", name))
		} else {
			parts = append(parts, fmt.Sprintf("o.%[1]s = r.%[1]s", column))
		}
	}
	return strings.Join(parts, " and ")
}

// differs returns an SQL condition. The condition is true if the rows `o` and `r` differ in a shown column.
func (t auditedTable) differs() string {
	var before, after []string
	for _, c := range t.shown() {
		before, after = append(before, "o."+c.column), append(after, "r."+c.column)
	}
	return fmt.Sprintf("(%s) is distinct from (%s)", strings.Join(before, ", "), strings.Join(after, ", "))
}
