// Package query answers queries about a site's visitor events: aggregates, funnels, retentions and visitor segments.
//
// A request passes through the files in this order. The files have no dependency cycles (order_test.go).
//
//   - Ask: answer.go and explain.go take a request, and segments.go takes a request for a page of segments
//     (segments_page.go). share.go looks in resultcache for the answer of an equal query. The answer may be reused as
//     long as the site's events do not change (versions.go). admission.go gives the query its turn. query.go sets the
//     query's time limit, headers and metrics.
//   - Read: reader.go reads JSON, and mistake.go makes the errors about wrong JSON. range.go and request.go read a
//     request's members.
//   - Narrow: request.go adds the conditions of saved segments and of the caller's view. reach.go cuts the range to the
//     ranges of the view. Later steps see only the resulting conditions and range.
//   - Resolve: resolve.go resolves the names of aggregates. events.go resolves the names of the other reports.
//   - Plan: column.go, filter.go and scope.go have the parts that all reports share. plan.go is the compiled aggregate
//     request, with members in cursor.go, fill.go, others.go and compare.go. passes.go makes the decisions.
//   - Lower: lower.go turns a plan into a tree of SQL, over events and their sessions (sessions.go), visits (visits.go)
//     or states (states.go). one_pass.go lowers plans whose sessions need no join with events. It reads events or
//     visits. segments_sql.go lowers segments. schema/sqltree prints the tree.
//   - Run: choose.go chooses the source of a statement, by the numbers of rows that sources.go counts. reading.go
//     reads the source, and cached_states.go reads states from statecache. run.go runs the statement with the limits of
//     config.go. assigned.go finds out whether the answer contains sessions that nodes assigned. incomplete.go finds
//     events that the store lost.
//   - Write: encode.go writes rows as JSON, and compared.go writes the rows of another range. estimate.go has the error
//     bounds of counts.
//   - aggregate.go (with collect.go), funnel.go, retention.go, transitions.go and segments.go run these steps for their
//     report.
//   - pages.go joins the metrics of pages with the store's data about the pages (pages_request.go, pages_plan.go,
//     pages_rows.go, pages_answer.go).
//   - batch.go answers several named queries in one turn. live.go answers the fixed queries about a site's last
//     minutes.
//
// The folders below this package:
//
//	resultcache  answers that equal queries share
//	statecache   aggregate states in the insights store
//
// service.go has the parts that all queries share, and site.go has the data about a query's site. engine.go has the
// engine's errors and parameters. errors.go has the errors for clients. too_heavy.go has the advice on lighter queries.
// kind.go lists the reports, and metrics.go has the metrics and the values of their labels.
//
// A column's row in the column table (schema/insights) defines the column's meaning, its SQL and the form of its
// values. The code in this package names no column. sqltree prints the SQL text of every query, and no value of a
// request becomes part of the text. Only short statements about tables are written as text, in sources.go, versions.go
// and statecache.
//
// # What a request means
//
//   - Result columns come in the order of `select`. Without `select` they are the `groupBy` columns and eventsCount.
//     The result is grouped by every dimension of `select`, except by exact time if `groupBy` names columns but no
//     time. Exact time then reads the time of the last event of each group, and `order` may name it. The result is also
//     grouped by `groupBy` columns that are not selected.
//   - If `groupBy` has datetime with a single interval, `select` and `order` may name datetime without an interval.
//     They then mean the grouped column. The same rule holds for visitorGeoPoint and `precision`. In the same way, a
//     `groupBy` column without interval takes the interval of the selected column. If the other list has several
//     intervals, the request is refused with the status 400. In all other cases, datetime means exact time (precision
//     5).
//   - The default order is by time ascending, coarse buckets first. Without time it is by the first metric descending,
//     and without metrics by the groups. Rows that are equal in this order are sorted by their groups: ascending, null
//     first, words alphabetically. An entry of `order` without direction is ascending.
//   - `order` may name any metric, selected or not, and grouped dimensions.
//   - A range has the events with `from <= time < to`. Octavo's own: with two dates, `to` is the last day of the range,
//     in the zone. A preset ends at the time of the request. A preset of months or years begins on the same day of an
//     earlier month. If that month is too short, the range begins on its last day. Octavo's own: today, thisWeek and
//     thisMonth begin with the first moment of the day, week or month. A range may begin before the storable years
//     (1970 to 2105), and end after them.
//   - Entries of `where` are joined by AND. Filters on metrics select groups. `in []` matches nothing, and `notIn []`
//     matches everything. `notIn` also selects events without a value. If the contract has no word for an absent value
//     in a column, `in` and comparisons never match events without a value (insights.Excluded).
//   - Octavo's own: `weekStart` is the first day of weeks. The default is the first day in the site's settings.
//   - Octavo's own: `timezone` is the zone whose calendar cuts time into intervals and presets. The default is the
//     site's zone (site.go). A site without settings has UTC, and weeks from Monday. Offsets come only from Go's zone
//     data. If a clock shows an hour twice, the two hours are separate intervals.
//   - Octavo's own: `fill` adds the empty buckets of a request's only group of time. It adds them for each combination
//     of the other groups that occurs in the range. The buckets are added before conditions on metrics, `order` and
//     `limit` apply. In empty buckets, counts are 0 and other metrics are null.
//   - Octavo's own: the request's member `compare` adds a member `compare` to the answer. The member has a row for each
//     row of `columns`. This row has the metrics of the same groups in another range. A group of time corresponds to
//     the bucket with the same number in the other range. If the other range lacks the row, the row's counts are 0 and
//     its other metrics are null. A request with `compare` may have one group of time, with an interval and at most
//     10,000 buckets. The `previousPeriod` of a range of whole days has the same number of days. For another range with
//     `from` and `to`, it has the same length. For a preset it is the preceding period of this preset. For today,
//     thisWeek and thisMonth it is the part of the previous day, week or month up to the same clock time.
//     `previousYearWeekday` is the range 52 weeks earlier. A day begins at its first moment, at which clocks in some
//     zones show 1:00.
//   - Octavo's own: the request's member `others` adds a member `others` to the answer if more rows than `limit` exist.
//     The member has a single row for all rows beyond `limit`. The groups of this row are null. Its metrics are
//     computed over all events of the rows beyond `limit`, so a visitor of two such rows is counted once. An event with
//     several claims is counted once for each claim, also in this row. A request with `others` and with conditions on
//     metrics, `fill` or `cursor` is refused. The compared range gets no row of `others`.
//   - Octavo's own: `count` adds rowsTotal, the number of rows that exist without `limit`. If the request has a cursor,
//     only the first page has rowsTotal.
//   - Octavo's own: `cursor` is "" for the first page. For the next page it is the answer's next.cursor, which exists
//     if more rows follow. Presets of all pages end at the time of the first page's request. An answer with the
//     accuracy `exact` has no estimates.
//   - Octavo's own: an entry {"or": [...]} or {"and": [...]} joins entries. Nested entries are limited only by the
//     depth of a JSON body. An `or` that joins metrics with other columns is refused with the status 400. `contains`,
//     `startsWith` and `matches` (RE2) select texts of which a part matches any of the values. They are case-sensitive.
//   - Octavo's own: columns of sessions. A session is all events of a visitor with a session id, in the range and up to
//     12 hours around it. Conditions do not shorten a session. The conditions choose the events whose sessions are
//     counted. In each group, a session is counted once. Page views of one moment are in the order in which they were
//     sent. Metrics of sessions are null without sessions. In an order, null is less than any number. Only `notIn`
//     selects null.
//   - Octavo's own: firstSource and firstChannel are properties of the visitor's first event in the range and the 12
//     hours before it. Conditions do not change the first event. Events of one moment are in the order in which they
//     were sent.
//   - Octavo's own: events of the types page_leave, code_copy and file_download make no session. They do not change
//     bounces, entry and exit pages, or the numbers of sessions and of pages per session. The duration of a session
//     runs to the last event of any type, because page_leave is the best measure of the last page. visitorsCount and
//     peopleCount include visitors with only such events.
//   - Octavo's own: a number that an event lacks (searchResults, engagedSeconds, scrollDepth) is null. A filter with
//     null matches events without the number, and comparisons never match these events. An average leaves out these
//     events.
//   - A member that is null has the same effect as an absent member. A request with unknown members is refused with the
//     status 400. The error names the first mistake in the body.
//   - Metrics of ratings count only page_post_feedback events. A page_post_feedback_comment repeats the rating of an
//     earlier event, so it is not counted.
//   - Octavo's own: a value of page, entryPage or exitPage may have a null page and no space. This value matches events
//     without a page, inside and outside of spaces.
//   - A claim is compared as text. A claim that is an array is also compared by its members.
//
// # Funnels and retentions
//
// Funnels and retentions are additions of Octavo. Their requests have `range`, `timezone` and `where`, like requests
// for aggregates. Conditions on metrics are refused, also in the `where` of `steps`, `first` and `return`.
//
//   - A funnel's actors are visitors. The request's member `by` can make the visitors' sessions the actors. An actor
//     reaches a step if events of the actor match all steps up to this step, in the order of the steps. Each event is
//     later than the previous event, unless strictIncrease is false. The last event is at most `window` seconds after
//     the first event (by default 14 days). An event matches at most one step.
//   - A retention cuts the range to intervals in the zone, and the default interval is a day. A visitor's cohort is the
//     interval of the visitor's first event in the range that matches `first`. Events before the range are ignored.
//     returned[k] is the number of the cohort's visitors with an event that matches `return` in the k-th interval after
//     the cohort's. Interval 0 is the cohort's own interval. For this interval, events before the visitor's first event
//     are included. Intervals after the range are left out.
//
// # Transitions
//
// Transitions are the pages before and after a page. They are an addition of Octavo. The request has `range`,
// `timezone` and `where`, like a funnel.
//
//   - The page views of a session that meet the conditions form a sequence. The sequence is ordered by time. Page views
//     of the same moment are in the order in which they were sent. Page views outside of the range are ignored, as in a
//     funnel. A page view of a space without a page is in no sequence.
//   - Each view of the page has one of three views before it: none (the view is an entry), a view of the same page (the
//     view is a reload), or a view of another page (a transition). After a view there is no view (the view is an exit),
//     a view of the same page, or a view of another page (a transition).
//   - A row is a page of a space or, for views outside of spaces, a path, as in the list of pages. The path and the
//     title of a row are the path and the title of the page's last view among the transitions.
//   - The page of the request is a page of a space, or a path. A path selects the views of all addresses with this
//     path, also views of pages in spaces.
//   - The engine finds the sessions of the page by their keys, and then lists their views. If the keys are too many for
//     the query's memory, the engine lists the views of all sessions in one pass. If the lists do not fit into the
//     memory, the engine writes them to disk.
//
// # Pages
//
// Lists of pages are an addition of Octavo. A row is a page from Config.Pages, or a page of a space that only events
// refer to. Outside of spaces, a row is the path of the events' addresses, without a slash at its end. If an event of a
// space has no page, the event is not counted for any page.
//
//   - Conditions in `where` choose the events that the metrics count, as in all reports. The filters on pages choose
//     rows.
//   - Pages without events have 0 as counts, and null as other metrics. Null is less than any value in `order`. Rows
//     that are equal in the order are sorted by space, page and path, ascending.
//   - A page that Config.Pages does not have gets the title of its last event with a title in the range.
//   - The request is refused with the status 400 if Config.Pages has more than MaxPages pages, or if more than MaxPages
//     pages have events. All pages are joined and sorted in memory, so the cost of a list does not depend on its limit.
//
// # Limits
//
// A query waits for a free slot, and until the running queries read few enough rows (admission.go). Organizations and
// tokens get fair shares of the slots and the rows. The slots limit connections, and the rows limit the engine's work.
// A query that reads few rows waits only for a slot. A site's rows are counted by day, in at most two seconds. On
// clusters, which have no visits, counting a very large site takes longer. The cost of a query of a long range is then
// assumed to be two million rows. All statements of a query share the query's time. A query that exceeds its time, rows
// or memory is refused with the status 400, because sending it again cannot help. The error says how to make it lighter
// (too_heavy.go). A query whose answer has too many bytes is refused in the same way. The bytes are counted row by row,
// and a column that is selected twice counts twice. The answers of a batch have the same limit together. After a 429 or
// 503, sending the query again can help.
//
// # Shared answers
//
// Equal queries about a site share an answer for a short time (resultcache). Queries are equal if their plans are
// equal. The times at which presets end may differ. If a preset begins with a day, the day must be equal. So a shared
// answer's range may end before the request was sent, by at most [Config].Keep. The answer does not have events after
// that end. While the version of the site's events is unchanged (versions.go), an answer about a preset is shared for a
// minute. An answer about a fixed range is shared for a day. Lists of pages are only shared for a short time, because
// the titles of pages change without events. The header Age is the answer's age in seconds. Octavo-Fresh-Until is the
// time up to which the answer has events. Imports and erasures may change any range, so [Service.Forget] drops a site's
// answers immediately. A caller that requests a fresh answer gets an answer whose computation starts after the request.
// Rights are checked earlier, and are not part of the key.
//
// Repeated queries of long ranges are read from aggregate states (statecache). States make answers faster, and never
// change an answer. Building them takes at most half of the query's time.
//
// # Batches
//
// A batch has up to 24 named queries with the same `now`. Each query has its own status, and the same answer or error
// as a single query. Equal queries run once. Cached answers are taken before the batch waits for its turn. The other
// queries take one turn, whose rows are the sum of their rows. A batch of cached answers takes no turn. All statements
// of the batch share the time limit of one query. Two light queries run concurrently, and other queries run one by one,
// because a turn has the memory of one query.
//
// Equal batches share a run. If a query had no time left in a run that began before its batch came, it runs again. The
// answer's `now` is the time at which the presets of the run end. An answer with an Age may end up to this Age earlier.
//
// A live answer is a batch about the last 30 minutes. All callers of a site share its run. They share the answer for
// two seconds, or for the time that it took, up to ten seconds. This holds even if other answers are not shared. The
// parts of a live answer are in no other cache.
//
// The only other packages of this module that package query imports are schema, schema/fair, schema/insights,
// schema/sqltree, and its own caches statecache and resultcache. It must not import store, ingest, api or cmd.
package query
