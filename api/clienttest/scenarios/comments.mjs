// This scenario posts a comment on a space, replies, reacts, edits, resolves, reopens and removes it.
import assert from 'node:assert/strict';
import { all, badField, begin, insertPage, paragraph, publish, refused, space, step, textOf } from '../lib/scenario.mjs';

const { ada, bob, cy, eve, org } = await begin('Comments', { bob: 'comment', cy: 'read' });
let handbook, page, question, answer;

await step('a space with a page', async () => {
    handbook = await space(ada, org, 'Handbook');
    const pages = await publish(ada, handbook.id, 'First pages', [insertPage('Holidays', 'Everybody has 30 days.')]);
    page = pages.find((p) => p.title === 'Holidays');
    assert.ok(page);
});

await step('a comment is posted on the page', async () => {
    ({ data: question } = await bob.api.spaces.postCommentInSpace(handbook.id, { body: { markdown: 'Is it **30** working days?' }, page: page.id }));
    assert.equal(question.postedBy.id, bob.id);
    assert.equal(question.status, 'open');
    assert.equal(question.target.space, handbook.id);
    assert.equal(question.target.page.id, page.id);
    assert.equal(question.replies, 0);
    assert.deepEqual(question.reactions, []);
    assert.equal(question.editedAt, undefined);
    assert.deepEqual(question.permissions, { view: true, edit: true, delete: true, reply: true });
    assert.deepEqual((await bob.api.spaces.getCommentInSpace(handbook.id, question.id)).data, question);
});

await step('a body has two formats', async () => {
    const read = async (id, format) => (await ada.api.spaces.getCommentInSpace(handbook.id, id, { format })).data.body;
    assert.equal((await read(question.id, 'markdown')).markdown.trim(), 'Is it **30** working days?');
    assert.equal(textOf((await read(question.id, 'document')).document), 'Is it 30 working days?');
    const { data: posted } = await ada.api.spaces.postCommentInSpace(handbook.id, { body: { document: paragraph('Sent as a document.') } });
    assert.equal((await read(posted.id, 'markdown')).markdown.trim(), 'Sent as a document.');
    assert.equal(textOf((await read(posted.id, 'document')).document), 'Sent as a document.');
    await ada.api.spaces.deleteCommentInSpace(handbook.id, posted.id);
});

await step('it is answered', async () => {
    ({ data: answer } = await ada.api.spaces.postCommentReplyInSpace(handbook.id, question.id, { body: { markdown: 'Yes, working days.' } }));
    assert.equal(answer.postedBy.id, ada.id);
    await bob.api.spaces.postCommentReplyInSpace(handbook.id, question.id, { body: { markdown: 'Thank you!' } });
    await bob.api.spaces.postCommentReplyInSpace(handbook.id, question.id, { body: { markdown: 'Very much.' } });
    const { data: now } = await ada.api.spaces.getCommentInSpace(handbook.id, question.id);
    assert.equal(now.replies, 3);
    const repliers = Object.fromEntries(now.repliers.map((r) => [r.user.id, r.count]));
    assert.deepEqual(repliers, { [ada.id]: 1, [bob.id]: 2 });
    assert.deepEqual((await ada.api.spaces.getCommentReplyInSpace(handbook.id, question.id, answer.id)).data, answer);
    const { data: document } = await ada.api.spaces.getCommentReplyInSpace(handbook.id, question.id, answer.id, { format: 'document' });
    assert.equal(textOf(document.body.document), 'Yes, working days.');
    const replies = await all((q) => ada.api.spaces.listCommentRepliesInSpace(handbook.id, question.id, q), 2);
    assert.equal(replies.length, 3);
});

await step('an answer is edited, by its author only, and taken back', async () => {
    const { data: edited } = await ada.api.spaces.updateCommentReplyInSpace(handbook.id, question.id, answer.id, { body: { markdown: 'Yes: *working* days.' } });
    assert.equal(edited.body.markdown.trim(), 'Yes: *working* days.');
    assert.ok(edited.editedAt >= edited.postedAt);
    await refused(bob.api.spaces.updateCommentReplyInSpace(handbook.id, question.id, answer.id, { body: { markdown: 'No.' } }), 403);
    const { data: list } = await bob.api.spaces.listCommentRepliesInSpace(handbook.id, question.id);
    const last = list.items.find((r) => r.body.markdown?.includes('Very much'));
    await bob.api.spaces.deleteCommentReplyInSpace(handbook.id, question.id, last.id);
    await bob.api.spaces.deleteCommentReplyInSpace(handbook.id, question.id, last.id);
    assert.equal((await bob.api.spaces.getCommentInSpace(handbook.id, question.id)).data.replies, 2);
});

await step('reactions are counted by emoji and user', async () => {
    const react = (person, change) => person.api.spaces.updateCommentInSpace(handbook.id, question.id, change);
    await react(ada, { addedReactions: ['1f44d', '1f389'] });
    await react(ada, { addedReactions: ['1f44d'] }); // a repeated reaction changes nothing
    const { data: both } = await react(bob, { addedReactions: ['1f44d'] });
    const seen = Object.fromEntries(both.reactions.map((r) => [r.emoji, r.users.map((u) => u.user.id).sort()]));
    assert.deepEqual(seen, { '1f44d': [ada.id, bob.id].sort(), '1f389': [ada.id] });
    assert.ok(both.reactions.every((r) => r.count === r.users.length));
    const { data: fewer } = await react(ada, { removedReactions: ['1f44d', '1f389'] });
    assert.deepEqual(fewer.reactions.map((r) => [r.emoji, r.count]), [['1f44d', 1]]);
    const { data: reply } = await bob.api.spaces.updateCommentReplyInSpace(handbook.id, question.id, answer.id, { addedReactions: ['2764'] });
    assert.deepEqual(reply.reactions.map((r) => [r.emoji, r.count]), [['2764', 1]]);
});

await step('it is edited, resolved and opened again', async () => {
    const { data: edited } = await bob.api.spaces.updateCommentInSpace(handbook.id, question.id, { body: { markdown: 'Are they working days?' } });
    assert.ok(edited.editedAt);
    assert.equal(edited.status, 'open');
    const { data: resolved } = await ada.api.spaces.updateCommentInSpace(handbook.id, question.id, { resolved: true });
    assert.equal(resolved.status, 'resolved');
    assert.equal(resolved.resolvedBy.id, ada.id);
    assert.ok(resolved.resolvedAt >= resolved.postedAt);
    assert.equal((await ada.api.spaces.getSpaceById(handbook.id)).data.comments, 0);
    const { data: open } = await ada.api.spaces.updateCommentInSpace(handbook.id, question.id, { resolved: false });
    assert.equal(open.status, 'open');
    assert.equal(open.resolvedAt, undefined);
    assert.equal((await ada.api.spaces.getSpaceById(handbook.id)).data.comments, 1);
});

await step('comments are listed by status, author, page and order', async () => {
    for (const [person, text, resolved] of [[ada, 'two', true], [ada, 'three', false], [bob, 'four', true], [ada, 'five', false]]) {
        const { data } = await person.api.spaces.postCommentInSpace(handbook.id, { body: { markdown: text } });
        if (resolved) {
            await person.api.spaces.updateCommentInSpace(handbook.id, data.id, { resolved });
        }
    }
    const texts = async (query) => (await all((q) => ada.api.spaces.listCommentsInSpace(handbook.id, { ...query, ...q }), 2)).map((c) => c.body.markdown.trim());
    const oldest = ['Are they working days?', 'two', 'three', 'four', 'five'];
    assert.deepEqual(await texts({ order: 'asc' }), oldest);
    assert.deepEqual(await texts({}), [...oldest].reverse());
    assert.deepEqual(await texts({ order: 'asc', status: 'open' }), ['Are they working days?', 'three', 'five']);
    assert.deepEqual(await texts({ order: 'asc', status: 'resolved' }), ['two', 'four']);
    assert.deepEqual(await texts({ order: 'asc', status: 'all', authors: [bob.id] }), ['Are they working days?', 'four']);
    assert.deepEqual(await texts({ order: 'asc', authors: [bob.id, ada.id] }), oldest);
    assert.deepEqual(await texts({ targetPage: page.id }), ['Are they working days?']);
    const { data: documents } = await ada.api.spaces.listCommentsInSpace(handbook.id, { format: 'document', limit: 1 });
    assert.equal(textOf(documents.items[0].body.document), 'five');
});

await step('readers read, strangers see nothing', async () => {
    const { data: seen } = await cy.api.spaces.getCommentInSpace(handbook.id, question.id);
    assert.deepEqual({ ...seen.permissions, reply: seen.permissions.reply ?? false }, { view: true, edit: false, delete: false, reply: false });
    await refused(cy.api.spaces.postCommentInSpace(handbook.id, { body: { markdown: 'May I?' } }), 403);
    await refused(cy.api.spaces.updateCommentInSpace(handbook.id, question.id, { resolved: true }), 403);
    await refused(cy.api.spaces.deleteCommentInSpace(handbook.id, question.id), 403);
    await refused(eve.api.spaces.listCommentsInSpace(handbook.id), 404);
    await refused(eve.api.spaces.getCommentInSpace(handbook.id, question.id), 404);
});

await step('bad input is named', async () => {
    const path = `/spaces/${handbook.id}/comments`;
    await badField(ada, 'POST', path, {}, 'body');
    await badField(ada, 'POST', path, { body: { markdown: 7 } }, 'body');
    await badField(ada, 'GET', `${path}?status=closed`, undefined, 'status');
    await badField(ada, 'GET', `${path}?format=html`, undefined, 'format');
    await badField(ada, 'GET', `${path}?order=up`, undefined, 'order');
    await badField(ada, 'PUT', `${path}/${question.id}`, { resolved: 'yes' }, 'resolved');
    await refused(ada.api.spaces.listCommentsInSpace(handbook.id, { page: 'not-a-token' }), 400);
    await refused(ada.api.spaces.getCommentInSpace(handbook.id, 'nothing'), 404);
});

await step('it is removed, and removing it again changes nothing', async () => {
    await bob.api.spaces.deleteCommentInSpace(handbook.id, question.id);
    await bob.api.spaces.deleteCommentInSpace(handbook.id, question.id);
    await refused(bob.api.spaces.getCommentInSpace(handbook.id, question.id), 404);
    await refused(bob.api.spaces.getCommentReplyInSpace(handbook.id, question.id, answer.id), 404);
});
