// This scenario publishes integrations, finds them by category, publishes a new version, and installs them.
import assert from 'node:assert/strict';
import { all, badField, begin, refused, step, withToken } from '../lib/scenario.mjs';

const { ada, bob, eve, org } = await begin('Integrations', { bob: 'edit' });
const api = ada.api.integrations;
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const basic = { title: 'Basic', description: 'Does little', scopes: [], script: 'addEventListener("fetch", () => {})', organization: org, visibility: 'public' };
const foundBy = async (who, query) => (await all((q) => who.api.integrations.listIntegrations({ owner: org, ...query, ...q }), 2, (i) => i.name)).map((i) => i.name).sort();
const found = (query) => foundBy(ada, query);
let chart;

await step('an integration is published', async () => {
    ({ data: chart } = await api.publishIntegration('octavo-chart', {
        ...basic, title: 'Charts', description: 'Draws charts', summary: '# Charts\n\nDraws *charts*.', scopes: ['space:content:read', 'site:script:inject'],
        categories: ['content', 'analytics'], target: 'space', runtime: 'v1', icon: pixel, previewImages: [pixel, pixel],
        blocks: [{ id: 'chart', title: 'Chart', description: 'A chart', urlUnfurl: ['https://charts.example.com/**'], markdown: { codeblock: 'chart', body: 'spec' } }],
        contentSources: [{ id: 'numbers', title: 'Numbers', configuration: { componentId: 'numbers' } }],
        configurations: { space: { properties: { palette: { type: 'string', title: 'Palette', description: 'Colors', enum: ['warm', 'cold'], default: 'warm' } }, required: ['palette'] } },
        externalLinks: [{ url: 'https://charts.example.com', label: 'Home' }], secrets: { API_KEY: 'a-secret-value' },
        contentSecurityPolicy: "default-src 'self'",
    }));
    assert.equal(chart.name, 'octavo-chart');
    assert.equal(chart.owner.id, org);
    assert.equal(chart.verified, false);
    assert.equal(chart.permissions.admin, true);
    assert.equal(chart.target, 'space');
    assert.deepEqual(chart.scopes, ['space:content:read', 'site:script:inject']);
    assert.deepEqual(chart.categories, ['content', 'analytics']);
    assert.equal(chart.previewImages.length, 2);
    assert.equal(chart.blocks[0].markdown.codeblock, 'chart');
    assert.deepEqual(chart.configurations.space.required, ['palette']);
    assert.equal(chart.contentSecurityPolicy, "default-src 'self'");
    assert.ok(!JSON.stringify(chart).includes('a-secret-value'), 'secrets do not leave');
    assert.deepEqual((await api.getIntegrationByName('octavo-chart')).data, chart);
});

await step('more are published', async () => {
    const { data: plain } = await api.publishIntegration('octavo-plain', { ...basic, title: 'Plain' });
    assert.equal(plain.target, 'all');
    assert.deepEqual([plain.blocks ?? [], plain.externalLinks, plain.categories, plain.previewImages], [[], [], [], []]);
    await api.publishIntegration('octavo-login', { ...basic, title: 'Login', scopes: ['site:visitor:auth'], categories: ['visitor-auth'], target: 'site' });
    await api.publishIntegration('octavo-secret', { ...basic, title: 'Secret', visibility: 'private' });
    await api.publishIntegration('octavo-unlisted', { ...basic, title: 'Unlisted', visibility: 'unlisted' });
});

await step('they are found by what they do, by strangers the public ones', async () => {
    assert.deepEqual(await found({}), ['octavo-chart', 'octavo-login', 'octavo-plain', 'octavo-secret', 'octavo-unlisted']);
    assert.deepEqual(await foundBy(eve, {}), ['octavo-chart', 'octavo-login', 'octavo-plain']);
    assert.deepEqual(await found({ search: 'chart' }), ['octavo-chart']);
    assert.deepEqual(await found({ search: 'Login' }), ['octavo-login']);
    assert.deepEqual(await found({ category: 'analytics' }), ['octavo-chart']);
    assert.deepEqual(await found({ scope: 'site:visitor:auth' }), ['octavo-login']);
    assert.deepEqual(await found({ target: 'site' }), ['octavo-login']);
    assert.deepEqual(await found({ blocks: true }), ['octavo-chart']);
    assert.deepEqual(await foundBy(eve, { blocks: false }), ['octavo-login', 'octavo-plain']);
    assert.deepEqual(await found({ contentSources: true }), ['octavo-chart']);
    assert.deepEqual(await foundBy(eve, { contentSources: false }), ['octavo-login', 'octavo-plain']);
    assert.deepEqual(await found({ blockDomain: 'charts.example.com' }), ['octavo-chart']);
    assert.deepEqual(await found({ blockDomain: 'elsewhere.example.com' }), []);
    assert.deepEqual(await found({ owner: 'nobody' }), []);
});

await step('its owners read a private one, others do not know it', async () => {
    assert.equal((await api.getIntegrationByName('octavo-secret')).data.visibility, 'private');
    await refused(eve.api.integrations.getIntegrationByName('octavo-secret'), 404);
    const { data: seen } = await eve.api.integrations.getIntegrationByName('octavo-chart');
    assert.equal(seen.permissions.admin, false);
    assert.equal(seen.owner.billing, undefined);
});

await step('it is published again, as its next version', async () => {
    const { data: next } = await api.publishIntegration('octavo-chart', { ...basic, title: 'Charts 2' });
    assert.ok(next.version > chart.version);
    assert.equal(next.title, 'Charts 2');
    assert.equal(next.name, chart.name);
    assert.deepEqual(await found({ search: 'charts 2' }), ['octavo-chart']);
});

await step('it is installed', async () => {
    const { data: installation } = await api.installIntegration('octavo-plain', { organization: org });
    assert.equal(installation.target.organization, org);
});

await step('who may not, cannot', async () => {
    await refused(api.publishIntegration('octavo-new', { ...basic, organization: 'nothing' }), 404);
    await refused(eve.api.integrations.publishIntegration('octavo-new', basic), 404);
    await refused(bob.api.integrations.publishIntegration('octavo-new', basic), 403);
    await refused(api.getIntegrationByName('octavo-new'), 404);
});

await step('bad input is named', async () => {
    const path = '/integrations/octavo-bad';
    await badField(ada, 'POST', path, { ...basic, title: 'x' }, 'title');
    await badField(ada, 'POST', path, { ...basic, description: undefined }, 'description');
    await badField(ada, 'POST', path, { ...basic, script: undefined }, 'script');
    await badField(ada, 'POST', path, { ...basic, organization: undefined }, 'organization');
    await badField(ada, 'POST', path, { ...basic, scopes: ['everything'] }, 'scopes');
    await badField(ada, 'POST', path, { ...basic, previewImages: [pixel, pixel, pixel, pixel] }, 'previewImages');
    await badField(ada, 'POST', path, { ...basic, visibility: 'loud' }, 'visibility');
    await badField(ada, 'POST', `/integrations/${'x'.repeat(101)}`, basic, 'integrationName');
    await badField(ada, 'GET', '/integrations?category=magic', undefined, 'category');
    await badField(ada, 'GET', '/integrations?blockDomain=a%20b', undefined, 'blockDomain');
    await refused(api.getIntegrationByName('octavo-bad'), 404);
});

await step('installations are read, changed, put on spaces and listed', async () => {
    const { data: installation } = await api.installIntegration('octavo-login', { organization: org });
    assert.equal(installation.status, 'active');
    const { data: changed } = await api.updateIntegrationInstallation('octavo-login', installation.id, { externalIds: ['T1'], space_selection: 'selected', configuration: {} });
    assert.deepEqual([changed.externalIds, changed.space_selection, changed.spaces], [['T1'], 'selected', 0]);
    assert.deepEqual((await api.getIntegrationInstallationById('octavo-login', installation.id)).data, changed);
    const { data: space } = await ada.api.orgs.createSpace(org, { title: 'For an integration' });
    const { data: on } = await api.installIntegrationOnSpace('octavo-login', installation.id, { space: space.id });
    assert.equal(on.space, space.id);
    await api.updateIntegrationSpaceInstallation('octavo-login', installation.id, space.id, { externalIds: ['C1'] });
    assert.deepEqual((await api.getIntegrationSpaceInstallation('octavo-login', installation.id, space.id)).data.externalIds, ['C1']);
    assert.equal((await api.listIntegrationInstallationSpaces('octavo-login', installation.id)).data.count, 1);
    assert.equal((await api.listIntegrationInstallationSites('octavo-login', installation.id)).data.count, 0);
    assert.equal((await api.listIntegrationInstallations('octavo-login', { externalId: 'T1' })).data.items[0].id, installation.id);
    assert.ok((await ada.api.orgs.listOrganizationInstallations(org)).data.items.some((i) => i.installation.id === installation.id));
    assert.equal((await ada.api.orgs.getOrganizationIntegrationStatus(org, 'octavo-login')).data.status, 'active');
    await api.uninstallIntegrationFromSpace('octavo-login', installation.id, space.id);
});

await step('its events are listed, and its development mode is set and ended', async () => {
    const { data: events } = await api.listIntegrationEvents('octavo-login', { limit: 2 });
    assert.equal(events.items[0].payload.type, 'space_installation_deleted');
    const { data: traced } = await api.getIntegrationEvent('octavo-login', events.items[0].id);
    assert.deepEqual(traced.event, events.items[0]);
    assert.ok(traced.trace.logs.length > 0);
    await api.setIntegrationDevelopmentMode('octavo-login', { tunnelUrl: 'https://tunnel.example.com' });
    await api.disableIntegrationDevelopmentMode('octavo-login');
    await refused(eve.api.integrations.listIntegrationEvents('octavo-login'), 403);
});

await step('a token of an installation does what its scopes say', async () => {
    await api.publishIntegration('octavo-desk', { ...basic, title: 'Desk', scopes: ['conversations:ingest', 'openapi:read'] });
    const { data: { id } } = await api.installIntegration('octavo-desk', { organization: org });
    const { data: { token } } = await api.createIntegrationInstallationToken('octavo-desk', id);
    const http = withToken(token);
    const said = await http('POST', `/orgs/${org}/conversations`, { id: 'c1', parts: [{ type: 'message', role: 'user', body: 'The invoice is blank.' }] });
    assert.equal(said.status, 204);
    const { data: conversations } = await ada.api.orgs.listConversations(org, { source: `integration:octavo-desk:${id}` });
    assert.equal(conversations.count, 1);
    assert.equal((await http('GET', `/orgs/${org}/openapi`)).status, 200);
    assert.equal((await http('GET', `/orgs/${org}/sites`)).status, 403);
    await refused(eve.api.integrations.createIntegrationInstallationToken('octavo-desk', id), 403);
    await api.uninstallIntegration('octavo-desk', id);
});

await step('it is unpublished', async () => {
    await refused(eve.api.integrations.unpublishIntegration('octavo-login'), 403);
    await api.unpublishIntegration('octavo-login');
    await refused(api.getIntegrationByName('octavo-login'), 404);
});
