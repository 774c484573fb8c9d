// This scenario has a site that only readers with a share link can read. It creates, finds, renames, disables and
// removes links.
import assert from 'node:assert/strict';
import { all, badField, begin, refused, site, space, step } from '../lib/scenario.mjs';

const { ada, bob, eve, org } = await begin('Share links', { bob: 'read' });
const api = ada.api.orgs;
const links = {};
let docs;
const names = async (query) => (await all((q) => api.listSiteShareLinks(org, docs.id, { ...query, ...q }), 2)).map((l) => l.name);

await step('a published site for those with a link', async () => {
    docs = await site(ada, org, 'Private docs', [await space(ada, org, 'Guides')], { visibility: 'share-link' });
    assert.equal(docs.visibility, 'share-link');
    await api.publishSite(org, docs.id);
});

await step('links are made', async () => {
    for (const name of ['Customers', 'Partners', 'Press', 'Partner sales']) {
        ({ data: links[name] } = await api.createSiteShareLink(org, docs.id, { name }));
        assert.equal(links[name].name, name);
        assert.equal(links[name].active, true);
    }
    const addresses = Object.values(links).map((l) => l.urls.published);
    assert.ok(addresses.every(Boolean) && new Set(addresses).size === 4, `each link has an address of its own: ${addresses}`);
});

await step('links are listed and searched for', async () => {
    assert.deepEqual((await names({})).sort(), ['Customers', 'Partner sales', 'Partners', 'Press']);
    assert.deepEqual((await names({ search: 'partner' })).sort(), ['Partner sales', 'Partners']);
    assert.deepEqual(await names({ search: 'nobody' }), []);
});

await step('a link is renamed and switched off and on', async () => {
    const change = async (body) => (await api.updateSiteShareLinkById(org, docs.id, links.Press.id, body)).data;
    const off = await change({ active: false });
    assert.deepEqual([off.name, off.active, off.createdAt], ['Press', false, links.Press.createdAt]);
    const renamed = await change({ name: 'Newspapers' });
    assert.deepEqual([renamed.name, renamed.active], ['Newspapers', false]);
    assert.equal((await change({ active: true })).active, true);
});

await step('lists of the site take a key', async () => {
    const { data: spaces } = await api.listSiteSpaces(org, docs.id, { shareKey: links.Customers.id });
    assert.equal(spaces.items.length, 1);
    assert.equal((await api.listSiteSections(org, docs.id, { shareKey: links.Customers.id })).data.count, 0);
    assert.equal((await api.getSiteStructure(org, docs.id, { shareKey: links.Customers.id })).data.type, 'siteSpaces');
});

await step('a link is removed, and removing it again changes nothing', async () => {
    await api.deleteSiteShareLinkById(org, docs.id, links.Partners.id);
    await api.deleteSiteShareLinkById(org, docs.id, links.Partners.id);
    assert.deepEqual((await names({})).sort(), ['Customers', 'Newspapers', 'Partner sales']);
    await refused(api.updateSiteShareLinkById(org, docs.id, links.Partners.id, { active: false }), 404);
});

await step('who may not, cannot', async () => {
    await refused(bob.api.orgs.createSiteShareLink(org, docs.id, { name: 'Mine' }), 403);
    await refused(bob.api.orgs.deleteSiteShareLinkById(org, docs.id, links.Press.id), 403);
    await refused(eve.api.orgs.listSiteShareLinks(org, docs.id), 404);
});

await step('bad input is named', async () => {
    const path = `/orgs/${org}/sites/${docs.id}/share-links`;
    await badField(ada, 'POST', path, {}, 'name');
    await badField(ada, 'POST', path, { name: 'x'.repeat(51) }, 'name');
    await badField(ada, 'PATCH', `${path}/${links.Press.id}`, { active: 'no' }, 'active');
    await refused(api.updateSiteShareLinkById(org, docs.id, links.Press.id, {}), 400);
});
