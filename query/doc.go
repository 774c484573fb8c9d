// Package query answers questions about a site's visitor events: the aggregate
// endpoint and the visitor segments.
//
// A request goes one way, and each step is a file: request.go reads the JSON,
// resolve.go gives its names meaning, plan.go is the immutable result,
// passes.go makes the decisions, lower.go turns the plan into a tree, sqltree
// prints it, run.go runs it and encode.go writes the rows as JSON.
//
// What a column is, how it is read and how its values look is said by its row
// of the column table (schema/insights) alone: nothing here knows a column by
// name. Nothing here makes SQL text either, and no value of a request ever
// becomes part of it.
//
// # What a request means
//
//   - Result columns come in the order of select. Without select they are the
//     groupBy columns and eventsCount. Every dimension of select is grouped by.
//     A groupBy column that is not selected still groups.
//   - datetime without interval (visitorGeoPoint without precision) in select
//     or order means the grouped one, if groupBy has it with one interval only;
//     groupBy without interval means the selected one likewise. With several it
//     is a 400. Otherwise it is exact time (precision 5).
//   - Without order: by time ascending, coarse buckets first; else by the first
//     metric descending; else by the groups. Ties are broken by the groups,
//     ascending, null first, words as words. order without direction ascends.
//   - order may name any metric, selected or not, and grouped dimensions.
//   - from <= t < to. Presets end now; months and years are calendar ones, cut
//     to the month's last day. Ranges may reach beyond the years that are
//     stored (1970 to 2105).
//   - where entries are joined by and. Filters on metrics act on groups. in []
//     matches nothing, notIn [] everything. notIn also selects events without a
//     value; in and comparisons never match an absent value where the contract
//     has no word for it (Excluded).
//   - Members that are null are absent; unknown members are a 400.
//   - A rating counts once: page_post_feedback, not the comment that repeats it.
//   - A claim is compared as text; an array also by its members.
//
// # What a question may take
//
// Questions wait in turns for a bounded number of slots (admission.go), by
// organization and token. All statements of one share its time. A question that
// outgrows its time, rows or memory is a 400, since sending it again cannot
// help; 429 and 503 mean that it can.
//
// It imports fair, schema, schema/insights and schema/sqltree of this module; never
// store, ingest, api or cmd.
package query
