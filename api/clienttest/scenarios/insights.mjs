// This scenario posts events of a site's visitors and queries every metric. Visitors with the same claims form a
// segment.
import assert from 'node:assert/strict';
import { badField, begin, refused, site, space, step, until } from '../lib/scenario.mjs';
import { published } from '../lib/contract.mjs';

const { ada, bob, cy, eve, org } = await begin('Insights', { bob: 'read', cy: null });
const api = ada.api.orgs;
let docs, guides, siteSpace;
const aggregate = async (query) => (await api.aggregateSiteEvents(org, docs.id, { range: 'last24Hours', ...query })).data.columns;
const total = async (column = 'eventsCount', where = undefined) => (await aggregate({ select: [{ column }], where }))[0].values[0];

const chrome = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';
const phone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1';
const robot = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';

// The document requires all these members of an event, but most may be null.
const event = (visitor, type, more = {}, session = {}, location = {}) => ({
    type,
    session: {
        visitorId: visitor, sessionId: `${visitor}-1`, cookies: {}, userAgent: chrome, language: 'en-GB', referrer: 'https://search.example.com/?q=octavo',
        visitorAuthClaims: { plan: visitor === 'v1' ? 'pro' : 'free', seats: 3, beta: true, teams: ['docs', 'api'] }, ...session,
    },
    location: {
        url: 'https://docs.example.com/guides/install?utm_source=mail&utm_medium=letter&utm_campaign=spring&utm_term=docs&utm_content=top', displayContext: 'site',
        siteSection: null, siteSpace: siteSpace.id, siteShareKey: null, space: guides.id, revision: null, page: 'page-1', ...location,
    },
    timestamp: new Date().toISOString(), ...more,
});

await step('a site', async () => {
    guides = await space(ada, org, 'Guides');
    docs = await site(ada, org, 'Docs', [guides]);
    [siteSpace] = (await api.listSiteSpaces(org, docs.id)).data.items;
});

await step('events of every published type go in', async () => {
    const feedback = { rating: 'good', comment: 'Just what I needed' };
    const operation = { path: '/pets', method: 'GET' };
    const ad = { domain: 'ads.example.com', zoneId: 'z1', placement: 'aside' };
    const events = [
        event('v1', 'page_view'),
        event('v2', 'page_view', {}, { userAgent: phone, language: 'fr', referrer: null }),
        event('v3', 'page_view', {}, { userAgent: robot, language: null, referrer: '' }, { displayContext: 'embed', page: null }),
        event('v1', 'search_open'),
        event('v1', 'search_type_query', { query: 'webhooks' }),
        event('v1', 'search_open_result', { query: 'webhooks', result: { spaceId: guides.id, pageId: 'page-1' } }),
        event('v1', 'page_post_feedback', { feedback: { rating: 'good' } }),
        event('v1', 'page_post_feedback_comment', { feedback }),
        event('v1', 'ask_question', { query: 'How do I install it?' }),
        event('v1', 'ask_view'),
        event('v1', 'ask_rate_response', { query: 'How do I install it?', rating: 1, responseId: 'r1' }),
        event('v2', 'link_click', { link: { target: { kind: 'url', url: 'https://example.com/next' }, position: 'content' } }),
        event('v2', 'api_client_open', { operation }),
        event('v2', 'api_client_request', { operation }),
        event('v2', 'trademark_click', { placement: 'footer' }),
        event('v2', 'ad_click', { ad }),
        event('v2', 'ad_display', { ad }),
    ];
    const types = published().components.schemas.SiteInsightsEventType.enum;
    assert.deepEqual([...new Set(events.map((e) => e.type))].sort(), [...types].sort());
    await api.trackEventsInSiteById(org, docs.id, { events });
    await until('17 events', async () => await total() === 17);
    assert.equal(await total('visitorsCount'), 3);
    assert.equal(await total('sessionsCount'), 3);
});

await step('they are counted by type, in order', async () => {
    const [types, events, visitors] = await aggregate({
        select: [{ column: 'eventType' }, { column: 'eventsCount' }, { column: 'visitorsCount' }], groupBy: [{ column: 'eventType' }],
        order: { by: { column: 'eventsCount' }, direction: 'desc' }, limit: 1,
    });
    assert.deepEqual([types.values, events.values, visitors.values], [['page_view'], [3], [3]]);
});

await step('they are filtered', async () => {
    const where = (column, values, operator, more = {}) => [{ column, values, ...(operator ? { operator } : {}), ...more }];
    assert.equal(await total('eventsCount', where('eventType', ['page_view', 'ask_view'], 'in')), 4);
    assert.equal(await total('eventsCount', where('eventType', ['page_view'])), 3);
    assert.equal(await total('eventsCount', where('eventType', ['page_view'], 'notIn')), 14);
    assert.equal(await total('eventsCount', where('visitorDevice', ['mobile'])), 1);
    assert.equal(await total('eventsCount', where('visitorBot', ['googlebot'])), 1);
    assert.equal(await total('visitorsCount', where('visitorClaim', ['pro'], 'in', { claim: 'plan' })), 1);
    assert.equal(await total('eventsCount', where('siteSpace', [siteSpace.id])), 17);
});

await step('time has buckets and ranges', async () => {
    for (const interval of ['hour', 'day', 'week', 'month']) {
        const datetime = { column: 'datetime', interval };
        const [times, counts] = await aggregate({ select: [datetime, { column: 'eventsCount' }], groupBy: [datetime], order: { by: datetime, direction: 'asc' } });
        assert.equal(counts.values.reduce((a, b) => a + b), 17);
        assert.equal(times.values.length, counts.values.length);
    }
    for (const range of ['lastYear', 'last3Months', 'last30Days', 'last7Days', 'last24Hours', { from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' }]) {
        assert.deepEqual((await aggregate({ range, select: [{ column: 'eventsCount' }] }))[0].values, [17]);
    }
    assert.deepEqual((await aggregate({ range: { from: '2020-01-01T00:00:00Z', to: '2020-02-01T00:00:00Z' }, select: [{ column: 'eventsCount' }] }))[0].values, [0]);
});

// The columns are all columns of the published document, so each column's answer is checked against the client's
// schemas.
const extras = { datetime: { interval: 'day' }, visitorClaim: { claim: 'plan' }, visitorGeoPoint: { precision: 3 } };
const metrics = ['eventsCount', 'sessionsCount', 'visitorsCount', 'pageFeedbackRating', 'askResponseRating'];
await step('every published column is answered', async () => {
    const columns = published().components.schemas.SiteInsightsQueryEventsValues.oneOf.map((s) => s.properties.column.enum[0]);
    assert.equal(new Set(columns).size, 42);
    for (const name of columns) {
        const column = { column: name, ...extras[name] };
        const answer = metrics.includes(name)
            ? await aggregate({ select: [column] })
            : await aggregate({ select: [column, { column: 'eventsCount' }], groupBy: [column] });
        assert.equal(answer[0].column, name);
        assert.ok(answer.every((c) => c.values.length === answer[0].values.length), `${name}: columns of one length`);
    }
});

await step('columns have the values that went in', async () => {
    const values = async (column, more = {}) => (await aggregate({ select: [{ column, ...more }, { column: 'eventsCount' }], groupBy: [{ column, ...more }] }))[0].values;
    assert.deepEqual((await values('visitorBrowser')).includes('chrome'), true);
    assert.ok((await values('visitorOS')).includes('ios'));
    assert.ok((await values('utmSource')).includes('mail'));
    assert.ok((await values('referrerDomain')).includes('search.example.com'));
    assert.ok((await values('eventSearchQuery')).includes('webhooks'));
    assert.ok((await values('eventPageFeedbackComment')).includes('Just what I needed'));
    assert.ok((await values('eventLinkTargetDomain')).includes('example.com'));
    assert.ok((await values('eventAPIOperationPath')).includes('/pets'));
    assert.deepEqual((await values('visitorClaim', { claim: 'plan' })).sort(), ['free', 'pro']);
    assert.ok((await values('visitorClaimProperty')).includes('plan'));
    assert.deepEqual((await aggregate({ select: [{ column: 'pageFeedbackRating' }] }))[0].values[0], { ok: 0, good: 1, bad: 0 }); // the comment repeats its rating
    assert.deepEqual((await aggregate({ select: [{ column: 'askResponseRating' }] }))[0].values[0], { positive: 1, negative: 0 });
});

await step('visitors form segments', async () => {
    const segments = await until('segments with claims', async () => {
        const { data } = await api.listSiteVisitorSegments(org, docs.id);
        return data.items.some((s) => s.claims.plan === 'pro') ? data.items : undefined;
    });
    const pro = segments.find((s) => s.claims.plan === 'pro');
    assert.equal(pro.visitors, 1);
    assert.ok(pro.events > 0 && pro.sessions > 0 && pro.title.length > 0);
});

await step('a batch with one bad event is refused whole', async () => {
    const path = `/orgs/${org}/sites/${docs.id}/insights/events`;
    const good = event('v9', 'page_view');
    await badField(ada, 'POST', path, { events: [good, { ...good, type: 'page_vew' }] }, 'events[1].type');
    await badField(ada, 'POST', path, { events: [good, { ...good, session: { sessionId: 's' } }] }, 'events[1].session.visitorId');
    await badField(ada, 'POST', path, { events: [event('v9', 'search_type_query')] }, 'events[0].query');
    await badField(ada, 'POST', path, {}, 'events');
    // The server shows a later event only after all earlier events. So if the later event is visible, the count shows
    // that no refused event was stored.
    await api.trackEventsInSiteById(org, docs.id, { events: [event('v4', 'page_view')] });
    await until('one event more', async () => await total() >= 18);
    assert.equal(await total(), 18);
});

await step('a question that cannot be answered is refused', async () => {
    const path = `/orgs/${org}/sites/${docs.id}/insights/events/aggregate`;
    for (const body of [
        { select: [{ column: 'eventsCount' }] }, { range: 'lastCentury' }, { range: 'last7Days', select: [{ column: 'eventCount' }] },
        { range: 'last7Days', limit: 0 }, { range: 'last7Days', limit: 1001 }, { range: 'last7Days', where: [{ column: 'eventType', values: ['page_view'], operator: 'like' }] },
    ]) {
        assert.equal((await ada.http('POST', path, body)).status, 400, JSON.stringify(body));
    }
});

await step('who may not, cannot', async () => {
    await refused(eve.api.orgs.aggregateSiteEvents(org, docs.id, { range: 'last7Days' }), 404);
    await refused(eve.api.orgs.trackEventsInSiteById(org, docs.id, { events: [] }), 404);
    await refused(eve.api.orgs.listSiteVisitorSegments(org, docs.id), 404);
    await refused(cy.api.orgs.listSiteVisitorSegments(org, docs.id), 403, 404);
    await bob.api.orgs.listSiteVisitorSegments(org, docs.id);
});
