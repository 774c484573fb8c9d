// This scenario invites people: by a link with a role, by a link to a space or a collection, and by e-mail.
import assert from 'node:assert/strict';
import { all, badField, begin, leadsTo, refused, space, step } from '../lib/scenario.mjs';

const { ada, bob, cy, dee, eve, org } = await begin('Invites');
const api = ada.api.orgs;
const links = {};
const opened = {};
const roleOf = async (person) => (await api.getMemberInOrganizationById(org, person.id)).data.role;

await step('links for roles are made', async () => {
    for (const role of ['read', 'edit', null]) {
        const made = await api.createOrganizationInvite(org, { role });
        assert.equal(made.data.role, role);
        assert.equal(made.data.redundant, true); // the caller has joined already
        await leadsTo(ada, made);
        links[role ?? 'guest'] = made.data;
    }
    const listed = await all((q) => api.listOrganizationInviteLinks(org, q), 2);
    assert.deepEqual(listed.map((l) => l.id).sort(), Object.values(links).map((l) => l.id).sort());
});

await step('people join by them', async () => {
    await refused(bob.api.orgs.getOrganizationById(org), 404);
    const { data: joined } = await bob.api.orgs.joinOrganizationWithInvite(org, links.read.id);
    assert.deepEqual(joined, {});
    assert.equal(await roleOf(bob), 'read');
    await cy.api.orgs.joinOrganizationWithInvite(org, links.guest.id);
    assert.equal(await roleOf(cy), null);
    // Many people can use a link, and a person can use several. A link with a higher role changes the member's role,
    // and a link with a lower role does not.
    await bob.api.orgs.joinOrganizationWithInvite(org, links.edit.id);
    assert.equal(await roleOf(bob), 'edit');
    await bob.api.orgs.joinOrganizationWithInvite(org, links.read.id);
    assert.equal(await roleOf(bob), 'edit');
});

await step('a link gets another role', async () => {
    const { data: changed } = await api.updateOrganizationInviteById(org, links.read.id, { role: 'comment' });
    assert.deepEqual(changed, { ...links.read, role: 'comment' });
    assert.deepEqual((await api.getOrganizationInviteLink(org, links.read.id)).data, changed);
    await dee.api.orgs.joinOrganizationWithInvite(org, links.read.id);
    assert.equal(await roleOf(dee), 'comment');
    assert.equal((await api.updateOrganizationInviteById(org, links.read.id, { role: null })).data.role, null);
});

await step('a link opens one space or one collection', async () => {
    const handbook = await space(ada, org, 'Handbook');
    const { data: collection } = await api.createCollection(org, { title: 'Shelf' });
    const inside = await space(ada, org, 'Inside', { parent: collection.id });
    const { data: toSpace } = await api.createOrganizationInvite(org, { level: 'comment', space: handbook.id });
    assert.equal(toSpace.level, 'comment');
    assert.equal(toSpace.space.id, handbook.id);
    assert.equal(toSpace.role, undefined);
    const { data: toCollection } = await api.createOrganizationInvite(org, { level: 'read', collection: collection.id });
    assert.equal(toCollection.collection.id, collection.id);
    assert.equal((await api.updateOrganizationInviteById(org, toCollection.id, { level: 'edit' })).data.level, 'edit');
    // Cy is a guest and sees only spaces and collections with a grant.
    await refused(cy.api.spaces.getSpaceById(handbook.id), 404);
    await cy.api.orgs.joinOrganizationWithInvite(org, toSpace.id);
    assert.equal((await cy.api.spaces.getSpaceById(handbook.id)).data.permissions.comment, true);
    await cy.api.orgs.joinOrganizationWithInvite(org, toCollection.id);
    assert.equal((await cy.api.spaces.getSpaceById(inside.id)).data.permissions.edit, true);
    assert.equal(await roleOf(cy), null);
    Object.assign(opened, { handbook, inside, collection, toSpace, toCollection });
    const listed = await all((q) => api.listOrganizationInviteLinks(org, q), 10);
    assert.ok(listed.every((l) => 'role' in l), 'the list holds links to the organization only');
});

await step('what a link gave is listed, changed and taken back', async () => {
    const { spaces, collections } = ada.api;
    const { handbook, inside, collection, toSpace, toCollection } = opened;
    for (const { link, level, reads, list, update, remove } of [
        {
            link: toSpace, level: 'comment', reads: handbook,
            list: (q) => spaces.listUserPermissionsInSpace(handbook.id, q),
            update: (role) => spaces.updateUserPermissionInSpace(handbook.id, cy.id, { role }),
            remove: () => spaces.removeUserFromSpace(handbook.id, cy.id),
        },
        {
            link: toCollection, level: 'edit', reads: inside,
            list: (q) => collections.listUserPermissionsInCollection(collection.id, q),
            update: (role) => collections.updateUserPermissionInCollection(collection.id, cy.id, { role }),
            remove: () => collections.removeUserFromCollection(collection.id, cy.id),
        },
    ]) {
        const given = async () => (await all(list, 1, (p) => p.user.id)).map((p) => [p.user.id, p.permission]);
        assert.deepEqual(await given(), [[cy.id, level]]);
        await update('review');
        assert.deepEqual(await given(), [[cy.id, 'review']]);
        assert.equal((await cy.api.spaces.getSpaceById(reads.id)).data.permissions.merge, true);
        await api.deleteOrganizationInviteById(org, link.id);
        await remove();
        await remove();
        assert.deepEqual(await given(), []);
        await refused(cy.api.spaces.getSpaceById(reads.id), 404);
        await refused(update('read'), 404);
    }
    assert.equal(await roleOf(cy), null);
});

await step('people are invited by e-mail', async () => {
    const { data: invited } = await api.inviteUsersToOrganization(org, {
        emails: ['new@invites.example.com', { email: 'newer@invites.example.com', role: 'edit' }], role: 'read',
    });
    assert.equal(invited.invited, 2);
    assert.ok(invited.users.length <= 2);
    const { data: none } = await api.inviteUsersToOrganization(org, { emails: [], role: 'read' });
    assert.equal(none.invited, 0);
    const { data: sso } = await api.inviteUsersToOrganization(org, { emails: ['staff@invites.example.com'], role: null, sso: true });
    assert.equal(sso.invited + (sso.failedSSOEmails ?? []).length, 1);
});

await step('an address that is none invites nobody', async () => {
    const path = `/orgs/${org}/invites`;
    await badField(ada, 'POST', path, { emails: ['fine@invites.example.com', 'not an address'] }, 'emails[1]');
    await badField(ada, 'POST', path, {}, 'emails');
    await badField(ada, 'POST', path, { emails: [], role: 'owner' }, 'role');
    await badField(ada, 'POST', path, { emails: [{ role: 'read' }] }, 'email');
    await badField(ada, 'POST', `/orgs/${org}/link-invites`, { role: 'owner' }, 'role');
    await refused(api.createOrganizationInvite(org, {}), 400);
    await refused(api.createOrganizationInvite(org, { level: 'read', space: 'nothing' }), 400, 404);
});

await step('a link ends, and ending it again changes nothing', async () => {
    await api.deleteOrganizationInviteById(org, links.edit.id);
    await api.deleteOrganizationInviteById(org, links.edit.id);
    await refused(api.getOrganizationInviteLink(org, links.edit.id), 404);
    await refused(eve.api.orgs.joinOrganizationWithInvite(org, links.edit.id), 404);
    await refused(eve.api.orgs.joinOrganizationWithInvite(org, 'nothing'), 404);
});

await step('who may not, cannot', async () => {
    await refused(bob.api.orgs.createOrganizationInvite(org, { role: 'admin' }), 403);
    await refused(bob.api.orgs.updateOrganizationInviteById(org, links.read.id, { role: 'admin' }), 403);
    await refused(bob.api.orgs.inviteUsersToOrganization(org, { emails: ['x@example.com'] }), 403);
    await refused(eve.api.orgs.listOrganizationInviteLinks(org), 404);
});

await step('who is invited is asked first', async () => {
    const { data: me } = await eve.api.user.getAuthenticatedUser();
    const { data: invited } = await api.inviteUsersToOrganization(org, { emails: [me.email], role: 'edit' });
    assert.deepEqual(invited.users, [eve.id]);
    await refused(eve.api.orgs.getOrganizationById(org), 404);
    await refused(api.getMemberInOrganizationById(org, eve.id), 404);
    await refused(ada.api.users.getUserById(eve.id), 404);
    await refused(bob.api.orgs.joinOrganizationWithInvite(org, eve.id), 404);
    const { data: joined } = await eve.api.orgs.joinOrganizationWithInvite(org, eve.id);
    assert.deepEqual(joined, {});
    assert.equal(await roleOf(eve), 'edit');
});

await step('links that are off say so', async () => {
    await api.updateOrganizationById(org, { inviteLinks: false });
    await refused(api.createOrganizationInvite(org, { role: 'read' }), 403);
    await refused(eve.api.orgs.joinOrganizationWithInvite(org, links.read.id), 403);
});
