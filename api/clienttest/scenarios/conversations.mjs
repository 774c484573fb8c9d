// This scenario ingests conversations of customers. The server finds issues in them and groups similar issues into
// clusters. A cluster is then muted.
import assert from 'node:assert/strict';
import { all, badField, begin, refused, space, step, until } from '../lib/scenario.mjs';

const { ada, bob, eve, org } = await begin('Conversations', { bob: 'read' });
const api = ada.api.orgs;
const list = (query = {}) => all((q) => api.listConversations(org, { ...query, ...q }), 3);
const part = (role, body) => ({ type: 'message', role, body });
let login, issue, cluster;

await step('one conversation comes in', async () => {
    await api.ingestConversation(org, {
        id: 'ticket-1', subject: 'Cannot log in with single sign-on',
        metadata: { url: 'https://desk.example.com/tickets/1', attributes: { plan: 'pro', region: 'eu' }, createdAt: '2026-01-02T03:04:05.000Z' },
        parts: [
            part('user', 'I cannot log in with single sign-on: after the redirect I get error 403. This blocks our whole team.'),
            part('team-member', 'Which identity provider do you use?'),
            part('user', 'Okta. The single sign-on login worked until yesterday.'),
        ],
    });
    login = await until('conversation', async () => (await list()).find((c) => c.subject === 'Cannot log in with single sign-on'));
    assert.equal((await list()).length, 1);
});

await step('it is read whole', async () => {
    const { data } = await api.getConversationById(org, login.id);
    assert.deepEqual(data.conversation.id, login.id);
    assert.deepEqual(data.parts.map((p) => p.role), ['user', 'team-member', 'user']);
    assert.match(data.parts[0].body, /error 403/);
    assert.equal(data.metadata.url, 'https://desk.example.com/tickets/1');
    assert.deepEqual(data.metadata.attributes, { plan: 'pro', region: 'eu' });
    assert.equal(new Date(data.metadata.createdAt).toISOString(), '2026-01-02T03:04:05.000Z');
});

await step('many come in at once', async () => {
    await api.ingestConversation(org, [
        { id: 'ticket-2', subject: 'Single sign-on login fails', parts: [part('user', 'Single sign-on login fails with error 403 after the redirect. Nobody can log in.')] },
        { id: 'ticket-3', subject: 'Login error 403', parts: [part('user', 'When I log in with single sign-on I see error 403. How do I log in?'), part('assistant', 'Please try again.')] },
        { id: 'ticket-4', subject: 'Export to PDF is slow', parts: [part('user', 'Exporting a space to PDF is slow and the images are missing from the PDF file.')] },
        { id: 'ticket-5', subject: 'PDF export lacks images', parts: [part('user', 'The PDF export lacks images; exporting the space to a PDF file drops every image.')] },
    ]);
    await until('all conversations', async () => (await list()).length === 5);
});

await step('the same one again is one', async () => {
    await api.ingestConversation(org, { id: 'ticket-4', subject: 'Export to PDF is very slow', parts: [part('user', 'Exporting a space to PDF is slow and the images are missing from the PDF file. Still.')] });
    await until('renewed conversation', async () => (await list()).some((c) => c.subject === 'Export to PDF is very slow'));
    assert.equal((await list()).length, 5);
});

await step('they are found by their source', async () => {
    assert.equal((await list({ source: login.source })).length, 5);
    assert.deepEqual(await list({ source: 'integration:nobody:nothing' }), []);
});

await step('issues are found in them', async () => {
    await until('processed conversations', async () => (await list()).every((c) => c.processedAt));
    const issues = await all((q) => api.listConversationsIssues(org, q), 2, (i) => i.issue.id);
    assert.ok(issues.length >= 5, `${issues.length} issues in 5 conversations`);
    assert.ok(issues.every((i) => i.issue.conversation === i.conversation.id));
    const { data: mine } = await api.listConversationsIssues(org, { conversation: login.id });
    assert.ok(mine.items.length >= 1 && mine.items.every((i) => i.conversation.id === login.id));
    [issue] = mine.items;
    assert.deepEqual((await api.getConversationIssueById(org, issue.issue.id)).data, issue);
});

await step('alike issues are grouped', async () => {
    cluster = await until('cluster of the logins', async () => {
        const { data } = await api.getConversationIssueById(org, issue.issue.id);
        return data.issue.cluster && (await api.getConversationsIssuesCluster(org, data.issue.cluster)).data;
    });
    await until('all three logins in it', async () => (await api.getConversationsIssuesCluster(org, cluster.id)).data.stats.conversations >= 3);
    ({ data: cluster } = await api.getConversationsIssuesCluster(org, cluster.id));
    assert.equal(cluster.muted, false);
    assert.equal(cluster.sources[login.source], cluster.stats.conversations);
    assert.ok(cluster.weeklyPulse.reduce((a, b) => a + b) > 0);
    const inside = await all((q) => api.listConversationsIssues(org, { cluster: cluster.id, ...q }), 2, (i) => i.issue.id);
    assert.equal(inside.length, cluster.stats.issues);
    assert.ok(inside.every((i) => i.issue.cluster === cluster.id && /log ?in|sign-on/i.test(i.conversation.subject)));
});

await step('groups are listed in several orders', async () => {
    const sizes = async (query) => (await all((q) => api.listConversationsIssuesClusters(org, { ...query, ...q }), 1)).map((c) => c.stats.conversations);
    const down = await sizes({ orderBy: 'conversations' });
    assert.ok(down.length >= 2);
    assert.deepEqual(down, [...down].sort((a, b) => b - a));
    assert.deepEqual(await sizes({ orderBy: 'conversations', order: 'asc' }), [...down].reverse());
    for (const orderBy of ['updatedAt', 'issues', 'tasksTotal', 'tasksBacklog', 'tasksStarted']) {
        assert.equal((await sizes({ orderBy })).length, down.length, orderBy);
    }
    const times = (await api.listConversationsIssuesClusters(org)).data.items.map((c) => c.updatedAt);
    assert.deepEqual(times, [...times].sort().reverse());
});

await step('a group is muted, and heard again', async () => {
    const path = `/orgs/${org}/conversations-clusters/${cluster.id}`;
    const { status, data } = await ada.http('PATCH', path, { muted: true });
    assert.equal(status, 200);
    assert.equal(data.muted, true);
    assert.equal((await api.getConversationsIssuesCluster(org, cluster.id)).data.muted, true);
    assert.equal((await ada.http('PATCH', path, { muted: false })).data.muted, false);
    await badField(ada, 'PATCH', path, {}, 'muted');
    await badField(ada, 'PATCH', path, { muted: 'yes' }, 'muted');
});

await step('no change request is about a group yet', async () => {
    const guide = await space(ada, org, 'Guide');
    assert.deepEqual((await ada.api.spaces.listChangeRequestsForSpace(guide.id, { conversationsIssuesCluster: cluster.id })).data.items, []);
    assert.deepEqual((await api.listChangeRequestsForOrganization(org, { conversationsIssuesCluster: cluster.id })).data.items, []);
});

await step('who may not, cannot', async () => {
    await refused(bob.api.orgs.ingestConversation(org, { id: 'x', parts: [] }), 403);
    await refused(eve.api.orgs.listConversations(org), 404);
    await refused(eve.api.orgs.getConversationById(org, login.id), 404);
    assert.equal((await eve.http('PATCH', `/orgs/${org}/conversations-clusters/${cluster.id}`, { muted: true })).status, 404);
});

await step('what is not there is not found', async () => {
    await refused(api.getConversationById(org, 'nothing'), 404);
    await refused(api.getConversationIssueById(org, 'nothing'), 404);
    await refused(api.getConversationsIssuesCluster(org, 'nothing'), 404);
});

await step('bad input is named, and nothing of it is kept', async () => {
    const path = `/orgs/${org}/conversations`;
    await badField(ada, 'POST', path, { parts: [] }, 'id');
    await badField(ada, 'POST', path, { id: 'y' }, 'parts');
    await badField(ada, 'POST', path, { id: 'y', parts: [part('boss', 'Hello')] }, 'parts[0].role');
    await badField(ada, 'POST', path, [{ id: 'fine', parts: [part('user', 'Hello')] }, { id: 'x'.repeat(256), parts: [] }], 'id');
    await badField(ada, 'GET', `/orgs/${org}/conversations-clusters?orderBy=mood`, undefined, 'orderBy');
    assert.equal((await list()).length, 5);
});
