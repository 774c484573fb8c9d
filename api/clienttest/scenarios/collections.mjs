// This scenario creates and nests collections, and moves spaces and collections in them. It transfers a collection to
// another organization, grants access to collections, and deletes them.
import assert from 'node:assert/strict';
import { all, badField, begin, leadsTo, organization, refused, space, step } from '../lib/scenario.mjs';

const { ada, bob, cy, dee, eve, org } = await begin('Collections', { bob: 'create', cy: null, dee: null });
const by = {};
const api = ada.api.collections;
const titles = (list) => list.map((c) => c.title);
const listed = async (query) => titles(await all((q) => ada.api.orgs.listCollectionsInOrganizationById(org, { ...query, ...q }), 2));
const before = (collection) => ({ before: { type: 'collection', collection: collection.id } });
const after = (collection) => ({ after: { type: 'collection', collection: collection.id } });

await step('collections are made and nested', async () => {
    const made = await ada.api.orgs.createCollection(org, { title: 'Products' });
    by.products = made.data;
    assert.equal(by.products.organization, org);
    assert.equal(by.products.parent, undefined);
    await leadsTo(ada, made);
    ({ data: by.apis } = await bob.api.orgs.createCollection(org, { title: 'APIs', parent: by.products.id }));
    assert.equal(by.apis.parent, by.products.id);
    ({ data: by.people } = await ada.api.orgs.createCollection(org, { title: 'People' }));
    ({ data: by.archive } = await ada.api.orgs.createCollection(org, { title: 'Archive' }));
    const { data: untitled } = await ada.api.orgs.createCollection(org, {});
    assert.equal(typeof untitled.title, 'string');
    await api.deleteCollectionById(untitled.id);
});

await step('they are listed, with what is nested or without', async () => {
    assert.deepEqual((await listed({})).sort(), ['APIs', 'Archive', 'People', 'Products']);
    assert.deepEqual((await listed({ nested: true })).sort(), ['APIs', 'Archive', 'People', 'Products']);
    assert.deepEqual((await listed({ nested: false })).sort(), ['Archive', 'People', 'Products']);
});

await step('spaces are made in a collection', async () => {
    by.rest = await space(bob, org, 'REST', { parent: by.apis.id });
    by.graphql = await space(bob, org, 'GraphQL', { parent: by.apis.id });
    by.elsewhere = await space(bob, org, 'Elsewhere');
    assert.equal(by.rest.parent, by.apis.id);
    const inside = await all((q) => api.listSpacesInCollectionById(by.apis.id, q), 1);
    assert.deepEqual(titles(inside).sort(), ['GraphQL', 'REST']);
    assert.deepEqual((await api.listSpacesInCollectionById(by.people.id)).data.items, []);
});

await step('title, description and level change', async () => {
    const { data: changed } = await api.updateCollectionById(by.people.id, { title: 'Staff', description: 'Who we are', defaultLevel: 'read' });
    assert.deepEqual([changed.title, changed.description, changed.defaultLevel], ['Staff', 'Who we are', 'read']);
    assert.deepEqual((await api.getCollectionById(by.people.id)).data, changed);
    assert.equal((await api.updateCollectionById(by.people.id, { defaultLevel: null })).data.defaultLevel, null);
    assert.equal((await api.updateCollectionById(by.people.id, { defaultLevel: 'inherit' })).data.defaultLevel, 'inherit');
    assert.equal((await api.getCollectionById(by.people.id)).data.title, 'Staff');
});

await step('they are moved: beside others, into others, and back to the top', async () => {
    const { data: first } = await api.moveCollection(by.archive.id, { position: before(by.products) });
    assert.equal(first.id, by.archive.id);
    assert.deepEqual(await listed({ nested: false }), ['Archive', 'Products', 'Staff']);
    await api.moveCollection(by.archive.id, { position: after(by.products) });
    assert.deepEqual(await listed({ nested: false }), ['Products', 'Archive', 'Staff']);
    const { data: inner } = await api.moveCollection(by.archive.id, { parent: by.products.id, position: before(by.apis) });
    assert.equal(inner.parent, by.products.id);
    assert.deepEqual(await listed({ nested: false }), ['Products', 'Staff']);
    await api.moveCollection(by.archive.id, { parent: by.apis.id, position: { after: { type: 'space', space: by.rest.id } } });
    const { data: top } = await api.moveCollection(by.archive.id, { parent: null });
    assert.equal(top.parent, undefined);
    assert.deepEqual(await listed({ nested: false }), ['Products', 'Staff', 'Archive']);
});

await step('a move that cannot be is refused', async () => {
    await refused(api.moveCollection(by.archive.id, { position: { after: { type: 'space', space: by.elsewhere.id } } }), 409); // it is there already
    await refused(api.moveCollection(by.archive.id, { position: { after: { type: 'space', space: by.rest.id } } }), 400); // not beside it
    await refused(api.moveCollection(by.archive.id, { position: { before: { type: 'collection', collection: 'nothing' } } }), 400);
    // The new parent is a collection inside the moved collection.
    await refused(api.moveCollection(by.products.id, { parent: by.apis.id }), 400, 409);
    await refused(api.moveCollection('nothing', { parent: null }), 404);
    await refused(api.moveCollection(by.archive.id, {}), 400);
    assert.deepEqual(await listed({ nested: false }), ['Products', 'Staff', 'Archive']);
});

await step('people and teams are let in', async () => {
    const { data: team } = await ada.api.orgs.createOrganizationTeam(org, { title: 'Guests', members: [dee.id] });
    await refused(cy.api.collections.getCollectionById(by.products.id), 404);
    await api.inviteToCollection(by.products.id, { users: [cy.id], role: 'read' });
    await api.inviteToCollection(by.products.id, { teams: [team.id], role: 'comment' });
    const { data: seen } = await cy.api.collections.getCollectionById(by.products.id);
    assert.equal(seen.permissions.view, true);
    assert.equal(seen.permissions.admin, false);
    const users = await all((q) => api.listUserPermissionsInCollection(by.products.id, q), 1, (p) => p.user.id);
    assert.deepEqual(users.map((p) => [p.user.id, p.permission]), [[cy.id, 'read']]);
    const { data: teams } = await api.listTeamPermissionsInCollection(by.products.id);
    assert.deepEqual(teams.items.map((p) => [p.team.id, p.permission]), [[team.id, 'comment']]);
    // They also have access to the spaces in the collection.
    assert.equal((await cy.api.spaces.getSpaceById(by.rest.id)).data.permissions.access, true);
    assert.equal((await dee.api.spaces.getSpaceById(by.rest.id)).data.permissions.comment, true);
    await refused(cy.api.spaces.getSpaceById(by.elsewhere.id), 404);
});

await step('everybody with access is listed once, with what they may do in the end', async () => {
    const everybody = await all((q) => api.listPermissionsAggregateInCollection(by.products.id, q), 2, (p) => p.user.id);
    const roles = Object.fromEntries(everybody.map((p) => [p.user.displayName, p.permission]));
    assert.deepEqual(roles, { ada: 'admin', bob: 'create', cy: 'read', dee: 'comment' });
    const { data: readers } = await api.listPermissionsAggregateInCollection(by.products.id, { role: 'read' });
    assert.deepEqual(readers.items.map((p) => p.user.id), [cy.id]);
});

await step('a role changes and ends', async () => {
    await api.updateUserPermissionInCollection(by.products.id, cy.id, { role: 'edit' });
    assert.equal((await cy.api.spaces.getSpaceById(by.rest.id)).data.permissions.edit, true);
    await api.removeUserFromCollection(by.products.id, cy.id);
    await api.removeUserFromCollection(by.products.id, cy.id);
    await refused(cy.api.spaces.getSpaceById(by.rest.id), 404);
    await refused(api.updateUserPermissionInCollection(by.products.id, 'nobody', { role: 'read' }), 404);
    await refused(api.inviteToCollection(by.products.id, { users: ['nobody'], role: 'read' }), 404);
    await refused(api.inviteToCollection(by.products.id, { teams: ['none'], role: 'read' }), 404);
    await refused(api.listUserPermissionsInCollection('nothing'), 404);
});

await step('a collection is handed to another organization, with what is in it', async () => {
    const second = await organization(ada, 'Second');
    await refused(api.transferCollection(by.people.id, { organization: org }), 409);
    await refused(api.transferCollection('nothing', { organization: second }), 404);
    by.team = await space(ada, org, 'Team', { parent: by.people.id });
    const { data: moved } = await api.transferCollection(by.people.id, { organization: second });
    assert.equal(moved.organization, second);
    assert.equal((await ada.api.spaces.getSpaceById(by.team.id)).data.organization, second);
    assert.ok(!(await listed({})).includes('Staff'));
    await refused(bob.api.collections.getCollectionById(by.people.id), 404);
});

await step('who may not, cannot', async () => {
    await refused(eve.api.collections.getCollectionById(by.products.id), 404);
    await refused(eve.api.orgs.createCollection(org, { title: 'Mine' }), 404);
    await refused(dee.api.collections.updateCollectionById(by.products.id, { title: 'Mine' }), 403);
    await refused(dee.api.collections.deleteCollectionById(by.products.id), 403);
});

await step('bad input is named', async () => {
    await badField(ada, 'POST', `/orgs/${org}/collections`, { title: 'x'.repeat(51) }, 'title');
    await badField(ada, 'PATCH', `/collections/${by.products.id}`, { description: 'x'.repeat(101) }, 'description');
    await badField(ada, 'PATCH', `/collections/${by.products.id}`, { defaultLevel: 'owner' }, 'defaultLevel');
    await badField(ada, 'POST', `/collections/${by.products.id}/permissions`, { users: [bob.id], role: 'owner' }, 'role');
    await badField(ada, 'POST', `/collections/${by.products.id}/transfer`, {}, 'organization');
    await refused(ada.api.orgs.createCollection(org, { title: 'Lost', parent: 'nothing' }), 400, 404);
});

await step('a collection is removed, and removing it again changes nothing', async () => {
    await api.deleteCollectionById(by.archive.id);
    await api.deleteCollectionById(by.archive.id);
    await refused(api.getCollectionById(by.archive.id), 404);
    assert.deepEqual(await listed({ nested: false }), ['Products']);
});
