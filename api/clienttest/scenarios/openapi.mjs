// This scenario creates an OpenAPI specification and reads its versions and their contents.
import assert from 'node:assert/strict';
import { all, badField, begin, refused, step, until } from '../lib/scenario.mjs';

const { ada, bob, eve, org } = await begin('OpenAPI', { bob: 'read' });
const api = ada.api.orgs;
const slug = 'pets-api';
const text = (version) => JSON.stringify({
    openapi: '3.0.3', info: { title: 'Pets', version },
    paths: { '/pets': { get: { operationId: 'listPets', responses: { 200: { description: 'All pets' } } } } },
});
const processed = () => until('processed specification', async () => {
    const { data } = await api.getOpenApiSpecBySlug(org, slug);
    return data.processingState === 'complete' && data.lastVersion ? data : undefined;
});
let first, second;

await step('a specification is made and processed', async () => {
    const { data: made } = await api.createOpenApiSpec(org, { slug, source: { text: text('1.0.0') } });
    assert.equal(made.slug, slug);
    const done = await processed();
    assert.equal(done.id, made.id);
    assert.equal(done.lastProcessErrorCode, undefined);
    assert.deepEqual((await all((q) => api.listOpenApiSpecs(org, q), 1)).map((s) => s.slug), [slug]);
});

await step('it has a version', async () => {
    ({ data: first } = await api.getLatestOpenApiSpecVersion(org, slug));
    assert.equal(first.id, (await api.getOpenApiSpecBySlug(org, slug)).data.lastVersion);
    assert.deepEqual((await api.getOpenApiSpecVersionById(org, slug, first.id)).data, first);
    const { data: content } = await api.getLatestOpenApiSpecVersionContent(org, slug);
    assert.ok(JSON.stringify(content.filesystem).includes('listPets'));
    assert.deepEqual((await api.getOpenApiSpecVersionContentById(org, slug, first.id)).data, content);
});

await step('another text makes another version', async () => {
    await api.createOrUpdateOpenApiSpecBySlug(org, slug, { source: { text: text('2.0.0') } });
    second = await until('second version', async () => {
        const { data } = await api.getLatestOpenApiSpecVersion(org, slug);
        return data.id === first.id ? undefined : data;
    });
    const versions = await all((q) => api.listOpenApiSpecVersions(org, slug, q), 1);
    assert.deepEqual(versions.map((v) => v.id).sort(), [first.id, second.id].sort());
    assert.ok(JSON.stringify((await api.getOpenApiSpecVersionContentById(org, slug, first.id)).data.filesystem).includes('1.0.0'));
    assert.ok(JSON.stringify((await api.getLatestOpenApiSpecVersionContent(org, slug)).data.filesystem).includes('2.0.0'));
});

await step('it is published, and taken back', async () => {
    const { data: open } = await api.updateOpenApiSpecBySlug(org, slug, { visibility: 'public' });
    assert.equal(open.visibility, 'public');
    const response = await fetch(open.urls.published);
    assert.equal(response.status, 200);
    assert.equal((await response.json()).info.version, '2.0.0');
    const { data: closed } = await api.updateOpenApiSpecBySlug(org, slug, { visibility: 'private' });
    assert.equal(closed.urls.published, undefined);
    assert.equal((await fetch(open.urls.published)).status, 404);
});

// The server checks a text during the request, so it refuses a bad text at once. Only a specification that is fetched
// from a URL can fail later.
await step('a text that is no specification is refused and makes no version', async () => {
    for (const bad of ['this is no specification', '{"openapi":', 'openapi: 3.0.3\n']) {
        await badField(ada, 'PUT', `/orgs/${org}/openapi/${slug}`, { source: { text: bad } }, 'source.text');
        await badField(ada, 'POST', `/orgs/${org}/openapi`, { slug: 'bad', source: { text: bad } }, 'source.text');
    }
    assert.equal((await api.getLatestOpenApiSpecVersion(org, slug)).data.id, second.id);
    assert.equal((await api.getOpenApiSpecBySlug(org, slug)).data.lastVersion, second.id);
    await refused(api.getOpenApiSpecBySlug(org, 'bad'), 404);
});

await step('what is not there is not found', async () => {
    await refused(api.listOpenApiSpecVersions(org, 'nothing'), 404);
    await refused(api.getLatestOpenApiSpecVersion(org, 'nothing'), 404);
    await refused(api.getLatestOpenApiSpecVersionContent(org, 'nothing'), 404);
    await refused(api.getOpenApiSpecVersionById(org, slug, 'nothing'), 404);
    await refused(api.getOpenApiSpecVersionContentById(org, slug, 'nothing'), 404);
    await refused(eve.api.orgs.getLatestOpenApiSpecVersion(org, slug), 404);
    await bob.api.orgs.getLatestOpenApiSpecVersion(org, slug);
    await refused(bob.api.orgs.createOpenApiSpec(org, { slug: 'mine', source: { text: text('1') } }), 403);
});

await step('bad input is named', async () => {
    await badField(ada, 'POST', `/orgs/${org}/openapi`, { slug: 'Not A Slug', source: { text: text('1') } }, 'slug');
    await badField(ada, 'POST', `/orgs/${org}/openapi`, { slug: 'fine' }, 'source');
    await badField(ada, 'POST', `/orgs/${org}/openapi`, { slug: 'fine', source: { url: 'not a url' } }, 'url');
});

// The tests of api/jobs check the job that fetches a URL. This server may not call itself.
await step('a URL is fetched later, unless it cannot be', async () => {
    for (const url of ['http://10.0.0.1/openapi.yaml', 'http://127.0.0.1/openapi.yaml', 'https://user:secret@example.com/openapi.yaml']) {
        await badField(ada, 'PUT', `/orgs/${org}/openapi/far`, { source: { url } }, 'source.url');
    }
    await refused(api.getOpenApiSpecBySlug(org, 'far'), 404);
});

await step('a specification is deleted with its versions', async () => {
    await refused(bob.api.orgs.deleteOpenApiSpecBySlug(org, slug), 403);
    await api.deleteOpenApiSpecBySlug(org, slug);
    await refused(api.getOpenApiSpecBySlug(org, slug), 404);
    await refused(api.getLatestOpenApiSpecVersion(org, slug), 404);
});
