// These tests check lib/contract.mjs with handmade answers. It must accept correct answers and find each kind of fault.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { Contract, isTimestamp, published } from '../lib/contract.mjs';
import { toJSONSchema } from '../lib/schema.mjs';
import * as seed from '../lib/seed.mjs';

const contract = new Contract();
const ref = (name) => ({ $ref: `#/components/schemas/${name}` });
const at = '2026-01-02T03:04:05.678Z';
const url = 'https://docs.example.com/x';

const user = { object: 'user', id: 'u1', displayName: 'Ada', urls: { location: url } };
const comment = {
    object: 'comment', id: 'c1', postedBy: user, postedAt: at, reactions: [], replies: 0, repliers: [], body: { markdown: 'Hello' },
    target: { space: 's1', revision: 'r1' }, urls: { location: url }, permissions: { view: true, edit: true, delete: false }, status: 'open',
};
const document = {
    object: 'document', data: { schemaVersion: 9 },
    nodes: [{ object: 'block', type: 'paragraph', nodes: [{ object: 'text', leaves: [{ object: 'leaf', text: 'Hi', marks: [{ object: 'mark', type: 'bold' }] }] }] }],
};
const cluster = {
    object: 'issues-cluster', id: 'k1', label: 'Logins', createdAt: at, updatedAt: at, icon: 'bug', muted: false, impact: 'low', summary: document,
    weeklyPulse: new Array(13).fill(0), sources: { email: 2 },
    stats: { issues: 2, conversations: 2, tasksTotal: 0, tasksBacklog: 0, tasksStarted: 0, tasksCompleted: 0, tasksCancelled: 0 },
    urls: { location: url, app: url },
};
const saml = {
    object: 'saml-provider', id: 'p1', label: 'Okta', ssoURL: url, entityID: 'e', certificate: '', defaultRole: null, createdAt: at, status: 'pending',
    service: { acsURL: url, startURL: url, entityID: 'e' }, urls: { location: url },
};
const without = (object, ...names) => Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));

// Each row has a schema, a value, and the expected error. A row without an error has a valid value.
const rows = [
    ['a whole comment', 'Comment', comment],
    ['a resolved comment', 'Comment', { ...comment, status: 'resolved', resolvedAt: at, resolvedBy: user }],
    ['a comment with a document', 'Comment', { ...comment, body: { document } }],
    ['a comment without a body', 'Comment', { ...comment, body: {} }],
    ['members that the document does not know', 'Comment', { ...comment, mood: 'good' }],
    ['a missing member', 'Comment', without(comment, 'postedAt'), /must have required property 'postedAt'/],
    ['a missing member, deep', 'Comment', { ...comment, postedBy: without(user, 'urls') }, /\/postedBy must have required property 'urls'/],
    ['null for an optional member', 'Comment', { ...comment, editedAt: null }, /\/editedAt must be string/],
    ['null for an object', 'Comment', { ...comment, target: { ...comment.target, page: null } }, /\/target\/page must be object/],
    ['an unknown word', 'Comment', { ...comment, status: 'closed' }, /tag "status" must be in oneOf \(closed\)/],
    ['resolved, by nobody', 'Comment', { ...comment, status: 'resolved', resolvedAt: at }, /resolvedBy/],
    ['two bodies at once', 'Comment', { ...comment, body: { markdown: 'Hello', document } }, /\/body is valid for two alternatives/],
    ['an unknown body', 'Comment', { ...comment, body: { html: 'Hello' } }, /\/body/],
    ['a fault deep in a document', 'Comment', { ...comment, body: { document: { ...document, nodes: [{ object: 'block', type: 'shout' }] } } }, /\/body\/document\/nodes\/0/],
    ['an object of another kind', 'Comment', { ...comment, object: 'remark' }, /\/object/],
    ['a relative URL', 'Comment', { ...comment, urls: { location: '/v1/x' } }, /\/urls\/location must match format "uri"/],
    ['a time without a zone', 'Comment', { ...comment, postedAt: '2026-01-02T03:04:05' }, /\/postedAt must match format "date-time"/],
    ['a number as text', 'Comment', { ...comment, replies: '0' }, /\/replies must be number/],
    ['null where it is allowed', 'OrganizationSAMLProvider', saml],
    ['null where it is not', 'OrganizationSAMLProvider', { ...saml, label: null }, /\/label must be string/],
    ['too long a text', 'OrganizationSAMLProvider', { ...saml, label: 'x'.repeat(31) }, /\/label must NOT have more than 30 characters/],
    ['a role that is none', 'OrganizationSAMLProvider', { ...saml, defaultRole: 'owner' }, /\/defaultRole/],
    ['a closed object', 'CustomizationFavicon', {}],
    ['a closed object with a member', 'CustomizationFavicon', { shape: 'round' }, /./],
    ['each destination of a redirect', 'SiteRedirectDestination', { kind: 'site-page', siteSpaceId: 'a', pageId: 'b' }],
    ['the other destination', 'SiteRedirectDestination', { kind: 'site-section', siteSectionId: 'a' }],
    ['a destination that is half another', 'SiteRedirectDestination', { kind: 'site-section', siteSpaceId: 'a' }, /siteSectionId/],
    ['a text that does not match', 'SiteRedirect', { object: 'site-redirect', id: 'r', source: '/old/', destination: { kind: 'site-space', siteSpaceId: 'a' } }, /\/source must match pattern/],
    ['a bot that is null', 'SiteInsightsQueryEventsValues', { column: 'visitorBot', values: [null] }, /./],
    ['a bot that is none', 'SiteInsightsQueryEventsValues', { column: 'visitorBot', values: ['', 'googlebot'] }],
    ['a column with values of another', 'SiteInsightsQueryEventsValues', { column: 'eventsCount', values: ['1'] }, /\/values\/0 must be number/],
    ['what the seed adds, of a wrong type', 'Conversation', { object: 'conversation', id: 'a', createdAt: at, source: 'email', urls: { location: url }, impact: 'huge' }, /\/impact/],
    ['what the seed requires', 'ConversationsIssuesCluster', without(cluster, 'muted'), /'muted'/],
    ['twelve weeks', 'ConversationsIssuesCluster', { ...cluster, weeklyPulse: cluster.weeklyPulse.slice(1) }, /\/weeklyPulse must NOT have fewer than 13 items/],
    ['a summary that is neither sort', 'ConversationsIssuesCluster', { ...cluster, summary: 'text' }, /\/summary must be object/],
];
for (const [name, schema, value, fault] of rows) {
    test(`${fault ? 'finds' : 'accepts'} ${name}`, () => {
        const { problems } = contract.validate(ref(schema), value);
        if (fault) {
            assert.match(problems.join('\n'), fault);
        } else {
            assert.deepEqual(problems, []);
        }
    });
}

test('an exception counts only where it is needed', () => {
    assert.deepEqual(contract.validate(ref('ConversationsIssuesCluster'), cluster).exceptions, ['cluster-summary']);
    const segment = (claims) => ({ title: 't', claims, events: 1, visitors: 1, sessions: 1 });
    assert.deepEqual(contract.validate(ref('SiteInsightsVisitorSegment'), segment({ plan: 'pro' })), { problems: [], exceptions: ['plain-object-type'] });
    assert.deepEqual(contract.validate(ref('SiteInsightsVisitorSegment'), segment({})), { problems: [], exceptions: [] });
    assert.deepEqual(contract.validate(ref('Comment'), comment).exceptions, []);
    const bare = new Contract(published(), { ...seed, exceptions: [] });
    assert.match(bare.validate(ref('SiteInsightsVisitorSegment'), segment({ plan: 'pro' })).problems.join(), /\/claims\/plan is valid for two alternatives/);
});

test('every exception and every addition names a schema that there is', () => {
    const { schemas } = published().components;
    for (const { patch } of seed.exceptions) {
        const before = JSON.stringify(schemas);
        patch(schemas);
        assert.notEqual(JSON.stringify(schemas), before);
    }
    for (const { schema } of seed.members) {
        assert.ok(schemas[schema], schema);
    }
});

const answer = (status, body, headers = {}) => ({
    status, text: body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body),
    headers: new Headers({ ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers }),
});

test('requests find their operation', () => {
    const id = (method, path) => contract.match(method, path)?.id;
    assert.equal(id('GET', '/v1/orgs/o/openapi/s/versions/latest'), 'getLatestOpenAPISpecVersion');
    assert.equal(id('GET', '/v1/orgs/o/openapi/s/versions/v1'), 'getOpenAPISpecVersionById');
    assert.equal(id('DELETE', '/v1/spaces/s/comments/c'), 'deleteCommentInSpace');
    assert.equal(id('PATCH', '/v1/orgs/o/conversations-clusters/c'), 'updateConversationsIssuesCluster');
    assert.equal(id('POST', '/v1/orgs'), 'createOrganization');
    assert.equal(id('GET', '/v1/nothing/here'), undefined);
});

const judged = (method, path, a) => contract.judge(contract.match(method, '/v1' + path), a).problems.join('\n');

test('statuses, headers and bodies of answers', () => {
    const provider = ['POST', '/orgs/o/saml'];
    assert.equal(judged(...provider, answer(201, saml, { location: url })), '');
    assert.match(judged(...provider, answer(201, saml)), /Location/);
    assert.match(judged(...provider, answer(200, saml)), /status 200 is not documented/);
    assert.match(judged(...provider, answer(500, { error: { code: 500, message: 'x' } })), /status 500 is not documented/);
    assert.match(judged(...provider, answer(201, saml, { location: url, 'content-type': 'text/html' })), /Content-Type is text\/html/);
    assert.match(judged(...provider, answer(201, '{', { location: url })), /the body is no JSON/);
    assert.equal(judged(...provider, answer(403, { error: { code: 403, message: 'no' } })), '');
    assert.match(judged(...provider, answer(403, { error: { code: 400, message: 'no' } })), /error.code is 400, the status 403/);
    assert.match(judged(...provider, answer(403, { error: { code: 403 } })), /'message'/);
    assert.match(judged(...provider, answer(403, { message: 'no' })), /'error'/);
    const removal = ['DELETE', '/spaces/s/comments/c'];
    assert.equal(judged(...removal, answer(204)), '');
    assert.match(judged(...removal, answer(204, {})), /204 has no body/);
    assert.match(judged(...removal, answer(205)), /205: the seed knows 204/);
    // If the document describes the refusal of an operation, the body must have the schema of this description.
    assert.equal(judged('GET', '/spaces/s/change-requests/c', answer(404, { error: { code: 404, message: 'no' } })), '');
});

test('lists have their total', () => {
    const list = ['GET', '/orgs/o/saml'];
    assert.equal(judged(...list, answer(200, { items: [saml], count: 1 })), '');
    assert.equal(judged(...list, answer(200, { items: [saml], count: 7, next: { page: 'p' } })), '');
    assert.match(judged(...list, answer(200, { items: [saml] })), /count is undefined/);
    assert.match(judged(...list, answer(200, { items: [saml], count: 0 })), /count is 0, with 1 items/);
    assert.match(judged(...list, answer(200, { items: [saml], count: 1, next: null })), /\/next must be object/);
    assert.match(judged(...list, answer(200, { count: 0 })), /'items'/);
    // The list of logins has no count, because the document does not describe it as a List.
    assert.equal(judged('GET', '/orgs/o/sso', answer(200, { items: [{ id: 'p', label: 'Okta', startURL: url }] })), '');
});

test('schemas of OpenAPI 3.0 become JSON Schema', () => {
    assert.deepEqual(toJSONSchema({ type: 'string', nullable: true, description: 'x' }), { type: ['string', 'null'] });
    assert.deepEqual(toJSONSchema({ $ref: '#/components/schemas/A', nullable: true }), { $ref: '#/$defs/A' });
    assert.deepEqual(toJSONSchema({ properties: { title: { type: 'string' } } }), { properties: { title: { type: 'string' } } });
    assert.throws(() => toJSONSchema({ not: {} }), /keyword not/);
});

test('timestamps exist and are in UTC', () => {
    assert.ok(isTimestamp('2024-02-29T23:59:59Z') && isTimestamp(at));
    for (const wrong of ['2023-02-29T00:00:00Z', '2024-01-01T00:00:00+01:00', '2024-01-01', '2024-01-01T25:00:00Z', 'yesterday']) {
        assert.ok(!isTimestamp(wrong), wrong);
    }
});

test('a fault is told of the alternative that was meant', () => {
    const problems = contract.validate(ref('SiteInsightsQueryEventsValues'), { column: 'eventsCount', values: [1, '2'] }).problems;
    assert.deepEqual(problems, ['/values/1 must be number, is "2"']);
});
