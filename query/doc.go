// Package query answers queries about a site's visitor events: the aggregate
// endpoint, funnels, retentions and the visitor segments.
//
// All are reports over a scope (scope.go): which events, and how to read them.
// A report has a file with its plan's way to rows: aggregate.go, funnel.go,
// retention.go, segments.go. report.go has the table of those with a request, and the
// one way to an answer; events.go is what funnels and retentions share. What Octavo adds to the contract's aggregates has a file for each member: fill.go,
// compare.go, cursor.go.
// service.go gives every query its turn, its time, its metrics and headers,
// and runs it again in bounded memory if counting exactly takes too much.
//
// An aggregate request goes one way, and each step is a file: request.go reads
// the JSON with reader.go, resolve.go gives its names meaning, plan.go is the
// immutable result, passes.go makes the decisions, lower.go turns the plan into a
// tree, sqltree prints it, run.go runs it and encode.go writes the rows as JSON.
// sources.go chooses what a statement reads when it is run: events, or visits
// (visits.go), or aggregate states (states.go, keep.go, parts.go, statestore.go).
// sessions.go joins events and their sessions, for columns that are about sessions.
//
// A column's row in the column table (schema/insights) alone says what the column
// is, how it is read and how its values look: no code here knows a column by
// name. No code here writes SQL text either, but around statements about states, and no
// value of a request becomes part of it.
//
// # What a request means
//
//   - Result columns come in the order of select. Without select they are the
//     groupBy columns and eventsCount. Every dimension of select is grouped by,
//     except exact time where groupBy names columns but no time. It reads the
//     time of the last event of each group then, and order may name it.
//     A groupBy column that is not selected still groups.
//   - datetime without interval (visitorGeoPoint without precision) in select
//     or order means the grouped one, if groupBy has it with one interval only;
//     groupBy without interval means the selected one likewise. With several it
//     is a 400. Otherwise it is exact time (precision 5).
//   - Without order: by time ascending, coarse buckets first; else by the first
//     metric descending; else by the groups. Groups break ties, ascending, null
//     first, words alphabetically. order without direction ascends.
//   - order may name any metric, selected or not, and grouped dimensions.
//   - from <= t < to. Presets end now; months and years are calendar ones, cut
//     to the month's last day. A range may be longer than the years that can be
//     stored (1970 to 2105).
//   - where entries are joined by AND. Filters on metrics select groups. in []
//     matches nothing, notIn [] everything. notIn also selects events without a
//     value; in and comparisons never match an absent value if the contract has
//     no word for it (insights.Excluded).
//   - Octavo's own: timezone cuts time by the calendar of a zone, in which presets
//     count their days. Offsets come from Go's zone data alone. An hour that a clock
//     shows twice is two hours.
//   - Octavo's own: fill adds the buckets of the one group of time in which nothing
//     happened, for each combination of the other groups that the range has, before
//     conditions on metrics, order and limit. Counts are 0 there, other metrics null.
//   - Octavo's own: compare adds a member compare beside columns, with a row for each
//     of their rows: the same groups in another range, and of time the bucket with the
//     same number. Counts of what that range does not have are 0, other metrics null.
//     At most one group of time, with an interval, and 10,000 buckets of it.
//     previousPeriod of whole days has as many days, and a preset's is the preset before;
//     any other is as long. A day's first moment, which some zones show as 1:00, begins it.
//   - Octavo's own: with cursor, "" at first, the answer's next.cursor leads on, as
//     long as there are rows; presets then end when the first page was asked for.
//     accuracy exact refuses what can only be estimated.
//   - Octavo's own: an entry {"or": [...]} or {"and": [...]} joins entries, as deep
//     as a body may nest; or of metrics and other columns is a 400. contains, startsWith and
//     matches (RE2) find what any of the values is a part of, with the letters' case.
//   - Octavo's own: columns of sessions. A session is what a visitor did under a session
//     id: all of its events in the range, whatever the conditions are, which choose the
//     events whose sessions count. Each session of a group counts once. Of page views at the
//     same moment the entry page is the first by space and page, the exit page the last.
//     Metrics of sessions are null where there are none. Null is less than any number in
//     order, and meets no condition but notIn.
//   - Members that are null count as absent; unknown members are a 400. The
//     answer names the first mistake in the body.
//   - A rating counts once: page_post_feedback, not the comment that repeats it.
//   - A claim is compared as text, an array also by its members.
//
// # Funnels and retentions
//
// Both are Octavo's own. Their requests have range, timezone and where as aggregates do,
// but no conditions on metrics, also in the where of steps, first and return.
//
//   - A funnel's actors are visitors, or with by the visitors' sessions. An actor reaches a
//     step if events match it and all steps before it in their order, each later than the
//     one before, and the last at most window seconds after the first: 14 days if absent.
//     So one event is one step, and events of the same millisecond are not in order.
//   - A retention cuts the range to intervals in the zone, days if absent. A visitor's
//     cohort is the interval of the visitor's first event in the range that matches first;
//     visitors of before the range are not known. returned[k] is how many of the cohort have
//     an event that matches return in the k-th interval after it, where the 0th is the
//     cohort's own, also before the first event. Intervals after the range are left out.
//
// # Limits
//
// Queries wait for one of a limited number of slots, and until the rows that they
// will read fit beside those of others (cost.go). Organizations and tokens share both
// fairly (admission.go). The slots are connections, the rows are the engine's work:
// what reads few of them never waits for what reads many. A site's rows are counted by
// day, in two seconds: where there are no visits, as on clusters, the events of a very
// large site may not be, and each long range of it counts as two million rows. All statements of a query
// share its time. A query that exceeds its time, rows or memory is a 400, which says
// what makes this one lighter (too_heavy.go), since sending it again cannot help; after a
// 429 or 503 it can.
//
// # Answers for more than one
//
// Equal queries about a site that are asked at once run once, and what they come to
// is kept for a moment (result_cache.go). Queries are equal if they have the same plan, but
// for the time at which a preset ends: so the range of a shared answer may have ended up
// to [Config].Keep before the request came, and events of that time may be missing. The
// header Age says how many seconds, Octavo-Fresh-Until what the rows have. Imports and
// erasures may change any range, so no answer is kept for longer because its range is
// long past; [Service.Forget] drops a site's at once. Who asks for a fresh answer gets
// one that is made from then on, and so does who asks after it was given. Rights are not
// part of the key: who may ask is decided before.
//
// # Aggregate states
//
// Of a long range that is asked for again, aggregate states of what is stored for some
// time are kept in tables of the engine (states.go): a row for each group, with counts and
// sketches. They are made by the second query that needs them (keep.go), and read for
// a day. What is kept is of the table's parts, which never change: rows that come
// later are in other parts, and are read beside the states; where rows were deleted or parts
// merged, there are other parts too. So states are kept of parts that will hardly be replaced
// (parts.go): of months that are over, and the large ones of the newest month, if no large
// one was made of late. After each statement the node asks whether the parts are
// still the table's and the states all there (statestore.go), and else reads the events.
// So states make answers quick and never change them. A node reads its own states only,
// under a random name for each try: what another process, or one that failed, has left is
// never read. Making them is the only thing that a query writes, and it may take half of
// the query's time at most. Spans without events are not kept, nor what has most of its
// events in other parts, as after an import of old ones.
//
// The package imports fair, schema, schema/insights and schema/sqltree of this
// module; never store, ingest, api or cmd.
package query
