// Package query answers queries about a site's visitor events: aggregates, funnels, retentions and visitor segments.
//
// A request meets the files in this order. Calls between files go one way, without a circle (order_test.go).
//
//   - Ask: answer.go and explain.go take a request, segments.go its page (segments_page.go). share.go looks for an
//     equal query, in resultcache. admission.go gives the query its turn, query.go its time, headers and metrics.
//   - Read: reader.go and mistake.go read JSON and name its mistakes, range.go and request.go the members.
//   - Resolve: resolve.go gives names a meaning for aggregates, and events.go for the other reports.
//   - Plan: column.go, filter.go and scope.go are what all reports are made of. plan.go is what an aggregate request
//     means, with members in cursor.go, fill.go and compare.go. passes.go makes the decisions.
//   - Lower: lower.go turns a plan into a tree of SQL, over events and their sessions (sessions.go), visits (visits.go)
//     or states (states.go). segments_sql.go does so for segments. schema/sqltree prints the tree.
//   - Run: sources.go chooses what a statement reads, and knows how many rows that is. reading.go reads the choice,
//     cached_states.go reads states from statecache, and run.go runs the statement with the limits of config.go.
//   - Write: encode.go writes rows as JSON, compared.go the rows of another range. estimate.go says how far a count may
//     be off.
//   - Reports join these steps: aggregate.go (with collect.go), funnel.go, retention.go and segments.go.
//
// service.go has what all queries share. engine.go knows the engine's errors and parameters, errors.go what a client
// sees of them, too_heavy.go what makes a query lighter. kind.go and metrics.go are closed sets.
//
// A column's row in the column table (schema/insights) alone says what the column is, how it is read and how its
// values look: no code here knows a column by name. No code here writes the SQL text of a query: sqltree prints it, and
// no value of a request becomes part of it. Text is only in short questions about tables, in sources.go and statecache.
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
// Queries wait for a limited number of slots, and until the rows that they will read fit (admission.go). Organizations
// and tokens share both fairly. The slots are connections, the rows are the engine's work: a query of few rows never
// waits for rows. A site's rows are counted by day, in two seconds. Without visits, as on clusters, a very large site
// is not counted in time, and each of its long ranges counts as two million rows. All statements of a query share its
// time. A query that exceeds its time, rows or memory is a 400, which says what makes it lighter (too_heavy.go), since
// sending it again cannot help; after a 429 or 503 it can.
//
// # Shared answers
//
// Equal queries about a site share an answer for a moment (resultcache). Queries are equal if they have the same plan,
// except for the time at which a preset ends. So the range of a shared answer may have ended up to [Config].Keep before
// the request came, and events of that time may be missing. The header Age says how many seconds, Octavo-Fresh-Until
// what the rows have. Imports and erasures may change any range, so [Service.Forget] drops a site's answers at once.
// A caller that asks for a fresh answer gets one that is made from then on. Rights are decided before, and are not part
// of the key.
//
// Long ranges that are queried again are read from aggregate states (statecache). States make answers quick and never
// change them. Building them takes half of the query's time at most.
//
// The package imports schema, schema/fair, schema/insights and schema/sqltree of this module, and its own caches; never
// store, ingest, api or cmd.
package query
