// This scenario gives people and teams access to a space. It lists them, changes their roles and removes them.
import assert from 'node:assert/strict';
import { all, badField, begin, refused, space, step } from '../lib/scenario.mjs';

const { ada, bob, cy, dee, eve, org } = await begin('Space permissions', { bob: 'create', cy: null, dee: null });
const by = {};
const api = ada.api.spaces;
const sees = async (person) => (await person.api.spaces.getSpaceById(by.plan.id)).data.permissions;

await step('people and teams are let in', async () => {
    by.plan = await space(ada, org, 'Plan');
    by.other = await space(ada, org, 'Other');
    ({ data: by.team } = await ada.api.orgs.createOrganizationTeam(org, { title: 'Reviewers', members: [dee.id] }));
    await refused(cy.api.spaces.getSpaceById(by.plan.id), 404);
    await api.inviteToSpace(by.plan.id, { users: [cy.id], role: 'read' });
    await api.inviteToSpace(by.plan.id, { teams: [by.team.id], role: 'review' });
    assert.deepEqual([(await sees(cy)).access, (await sees(cy)).comment], [true, false]);
    assert.deepEqual([(await sees(dee)).merge, (await sees(dee)).admin], [true, false]);
    await refused(cy.api.spaces.getSpaceById(by.other.id), 404);
    assert.deepEqual((await cy.api.orgs.listSpacesInOrganizationById(org)).data.items.map((s) => s.id), [by.plan.id]);
});

await step('they are listed', async () => {
    const users = await all((q) => api.listUserPermissionsInSpace(by.plan.id, q), 1, (p) => p.user.id);
    assert.deepEqual(users.map((p) => [p.user.id, p.permission]), [[cy.id, 'read']]);
    const teams = await all((q) => api.listTeamPermissionsInSpace(by.plan.id, q), 1, (p) => p.team.id);
    assert.deepEqual(teams.map((p) => [p.team.id, p.permission, p.team.spaces]), [[by.team.id, 'review', 1]]);
    const everybody = await all((q) => api.listPermissionsAggregateInSpace(by.plan.id, q), 2, (p) => p.user.id);
    const roles = Object.fromEntries(everybody.map((p) => [p.user.displayName, p.permission]));
    assert.deepEqual(roles, { ada: 'admin', bob: 'create', cy: 'read', dee: 'review' });
    const { data: readers } = await api.listPermissionsAggregateInSpace(by.plan.id, { role: 'read' });
    assert.deepEqual(readers.items.map((p) => p.user.id), [cy.id]);
});

await step('who has a collection has the spaces in it, and keeps them', async () => {
    const { data: shelf } = await ada.api.orgs.createCollection(org, { title: 'Shelf' });
    const inside = await space(ada, org, 'Inside', { parent: shelf.id });
    await ada.api.collections.inviteToCollection(shelf.id, { users: [cy.id], role: 'comment' });
    await api.inviteToSpace(inside.id, { users: [cy.id], role: 'edit' });
    const everybody = async () => (await api.listPermissionsAggregateInSpace(inside.id)).data.items;
    const role = async () => (await everybody()).find((p) => p.user.id === cy.id)?.permission;
    assert.equal(await role(), 'edit');
    await api.removeUserFromSpace(inside.id, cy.id);
    assert.deepEqual((await api.listUserPermissionsInSpace(inside.id)).data.items, []);
    assert.equal(await role(), 'comment');
    await ada.api.collections.removeUserFromCollection(shelf.id, cy.id);
    assert.equal(await role(), undefined);
    await refused(cy.api.spaces.getSpaceById(inside.id), 404);
});

await step('roles change and end', async () => {
    await api.updateUserPermissionInSpace(by.plan.id, cy.id, { role: 'edit' });
    assert.equal((await sees(cy)).edit, true);
    await api.updateTeamPermissionInSpace(by.plan.id, by.team.id, { role: 'comment' });
    assert.deepEqual([(await sees(dee)).comment, (await sees(dee)).review], [true, false]);
    await api.updateTeamPermissionInSpace(by.plan.id, by.team.id, { role: null });
    await refused(dee.api.spaces.getSpaceById(by.plan.id), 404);
    await api.inviteToSpace(by.plan.id, { teams: [by.team.id], role: 'read' });
    await api.removeTeamFromSpace(by.plan.id, by.team.id);
    await api.removeTeamFromSpace(by.plan.id, by.team.id);
    await refused(dee.api.spaces.getSpaceById(by.plan.id), 404);
    await api.removeUserFromSpace(by.plan.id, cy.id);
    await api.removeUserFromSpace(by.plan.id, cy.id);
    await refused(cy.api.spaces.getSpaceById(by.plan.id), 404);
    await refused(api.updateUserPermissionInSpace(by.plan.id, cy.id, { role: 'read' }), 404);
    await refused(api.updateTeamPermissionInSpace(by.plan.id, by.team.id, { role: 'read' }), 404);
});

await step('an admin of the space alone does it, too', async () => {
    await refused(bob.api.spaces.inviteToSpace(by.plan.id, { users: [cy.id], role: 'read' }), 403);
    await refused(bob.api.spaces.listUserPermissionsInSpace(by.plan.id), 403);
    await api.inviteToSpace(by.plan.id, { users: [bob.id], role: 'admin' });
    await bob.api.spaces.inviteToSpace(by.plan.id, { users: [cy.id], role: 'read' });
    assert.equal((await bob.api.spaces.listUserPermissionsInSpace(by.plan.id)).data.count, 2);
    await refused(bob.api.spaces.listUserPermissionsInSpace(by.other.id), 403);
    await refused(cy.api.spaces.listPermissionsAggregateInSpace(by.plan.id), 403);
    await refused(eve.api.spaces.listTeamPermissionsInSpace(by.plan.id), 404);
});

await step('bad input is named', async () => {
    const path = `/spaces/${by.plan.id}/permissions`;
    await badField(ada, 'POST', path, { users: [bob.id], role: 'owner' }, 'role');
    await badField(ada, 'POST', path, { users: [bob.id] }, 'role');
    await badField(ada, 'POST', path, { role: 'read' }, 'users');
    await badField(ada, 'PATCH', `${path}/users/${cy.id}`, { role: 'owner' }, 'role');
    await badField(ada, 'GET', `${path}/aggregate?role=owner`, undefined, 'role');
    await refused(api.inviteToSpace(by.plan.id, { users: [eve.id], role: 'read' }), 404);
    await refused(api.inviteToSpace(by.plan.id, { teams: ['none'], role: 'read' }), 404);
    await refused(api.listUserPermissionsInSpace('nothing'), 404);
});
