// This scenario sends the front end's requests for search, changes, and the addresses of pages.
import assert from 'node:assert/strict';
import { badField, begin, insertPage, propose, publish, site, space, step, until } from '../lib/scenario.mjs';

const { ada, bob, org } = await begin('Reading', { bob: 'read' });
let guide, docs, siteSpace, request;

await step('a site with a space of a few pages', async () => {
    guide = await space(ada, org, 'Guide');
    await publish(ada, guide.id, 'First pages', [
        insertPage('Wombats', 'They dig.', { ref: 'wombats', description: 'Of Australia.' }),
        insertPage('Burrows', 'Homes.\n\n## How deep\n\nA wombat digs deep.', { into: 'wombats' }),
    ]);
    docs = await site(ada, org, 'Docs', [guide]);
    [siteSpace] = (await ada.api.orgs.listSiteSpaces(org, docs.id)).data.items;
});

await step('words are found in the site, the space and the organization', async () => {
    const search = async (body) => (await bob.api.orgs.searchSiteContent(org, docs.id, { query: 'wombat', ...body })).data.items;
    const [found] = await until('indexed page', async () => {
        const items = await search({ mode: 'all' });
        return items.length > 0 && items;
    });
    assert.deepEqual([found.type, found.id, found.title, found.score], ['space', guide.id, 'Guide', found.pages[0].score]);
    const [wombats, burrows] = found.pages;
    assert.deepEqual([wombats.title, wombats.path, wombats.description, wombats.rank, wombats.ancestors], ['Wombats', 'wombats', 'Of Australia.', 1, []]);
    assert.deepEqual([burrows.path, burrows.rank, burrows.ancestors], ['wombats/burrows', 2, [{ title: 'Wombats' }]]);
    assert.deepEqual(burrows.sections.map((s) => [s.title, s.path, s.body]), [['How deep', 'wombats/burrows#how-deep', 'A wombat digs deep.']]);
    const scope = { mode: 'default', currentSiteSpace: siteSpace.id };
    assert.deepEqual(await search({ mode: 'current', siteSpaceId: siteSpace.id }), [found]);
    assert.deepEqual(await search({ siteSpaceIds: [siteSpace.id] }), [found]);
    assert.deepEqual(await search({ scope: { ...scope, restrictTo: 'currentSiteSpace' } }), [found]);
    assert.deepEqual(await search({ scope: { ...scope, restrictTo: 'otherSiteSpaces' } }), []);
    await badField(bob, 'POST', `/orgs/${org}/sites/${docs.id}/search`, { query: 'x', scope: { ...scope, currentSiteSpace: 'nothing' } }, 'scope.currentSiteSpace');
    assert.deepEqual((await bob.api.spaces.searchSpaceContent(guide.id, { query: 'wombat' })).data.items, found.pages);
    assert.deepEqual((await bob.api.orgs.searchOrganizationContent(org, { query: 'wombat' })).data.items, [found]);
});

await step('a change request and its merge say what they change', async () => {
    const { data: { pages } } = await ada.api.spaces.listPages(guide.id);
    const wombats = pages.find((p) => p.title === 'Wombats');
    request = await propose(ada, guide.id, 'Better', [
        insertPage('Food', 'Grass.'),
        { operation: 'update_page', page: wombats.id, title: 'The wombat' },
        { operation: 'update_page', page: wombats.pages[0].id, into: null },
    ]);
    const types = ({ changes }) => changes.map((c) => `${c.type} ${c.page.title}`).sort();
    const expected = ['page_created Food', 'page_edited The wombat', 'page_moved Burrows'];
    const { data: changes } = await bob.api.spaces.getChangeRequestChanges(guide.id, request.id, { limit: 100 });
    assert.deepEqual(types(changes), expected);
    assert.deepEqual(changes.changes.find((c) => c.type === 'page_edited').attributes, { title: { before: 'Wombats', after: 'The wombat' } });
    assert.deepEqual(changes.changes.find((c) => c.type === 'page_moved').parent, {
        before: { id: wombats.id, type: 'document', title: 'Wombats', path: 'wombats' },
    });
    const { data: { more } } = await bob.api.spaces.getChangeRequestChanges(guide.id, request.id, { limit: 1 });
    assert.equal(more, 2);
    const { data: merge } = await ada.api.spaces.mergeChangeRequest(guide.id, request.id);
    const { data: merged } = await bob.api.spaces.getRevisionSemanticChanges(guide.id, merge.revision, { limit: 100, computed: false, metadata: false });
    assert.deepEqual(types(merged), expected);
    assert.equal(merged.mergedFrom.id, request.id);
});

await step('an address that cannot be read is called by its host', async () => {
    const link = { type: 'link', title: 'a.example', site: 'a.example' };
    // The server does not connect to port 22.
    assert.deepEqual((await bob.api.spaces.getEmbedByUrlInSpace(guide.id, { url: 'https://www.a.example:22/' })).data, link);
    assert.deepEqual((await bob.api.urls.getEmbedByUrl({ url: 'https://www.a.example:22/' })).data, link);
});
