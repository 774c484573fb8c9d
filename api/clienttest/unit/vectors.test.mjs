// These tests check lib/vectors.mjs with handmade answers. It must find each fault of an answer: in the status, in the
// schema, in the members that the front end reads, and in the values that a case expects.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { Contract } from '../lib/contract.mjs';
import { Replay, at, candidates, claims, fill, members, outcome, pageAt } from '../lib/vectors.mjs';

const answer = (data, { status = 200, headers = { 'content-type': 'application/json' }, pathname = '/v1/urls/embed' } = {}) => (
    { status, headers: new Headers(headers), text: JSON.stringify(data), data, pathname });

test('templates are filled', () => {
    const values = { site: 's1', page: { id: 'p1' }, list: ['a'] };
    assert.deepEqual(fill({ a: '{site}', b: 'x/{page.id}/{none?}', c: ['{list}'], d: '{none?}', e: 1, f: null }, values),
        { a: 's1', b: 'x/p1/', c: [['a']], e: 1, f: null });
    assert.throws(() => fill('{none}', values), /nothing is called {none}/);
});

test('values are found by their path', () => {
    const body = { pages: [{ id: 'a', pages: [{ id: 'b' }] }, { id: 'c' }], total: 2 };
    assert.deepEqual(at(body, 'total'), [2]);
    assert.deepEqual(at(body, 'pages[].id'), ['a', 'c']);
    assert.deepEqual(at(body, 'pages[0].pages[].id'), ['b']);
    assert.deepEqual(at(body, 'none.below'), [undefined]);
});

test('members of another type are reported', () => {
    const token = (payload) => `h.${Buffer.from(JSON.stringify(payload)).toString('base64url')}.s`;
    const late = Math.floor(Date.now() / 1000) + 600;
    const good = { id: 'sec_1', path: '/a/', url: 'https://a.example/', list: [], token: token({ kind: 'site', exp: late }) };
    const expected = { id: 'identifier', path: 'folder', url: 'url', list: 'array', token: 'jwt', 'none?': 'string' };
    assert.deepEqual(members(good, expected), []);
    for (const [name, bad] of Object.entries({ id: '0digit', path: 'a', url: 'a', list: {}, token: token({ kind: 'site', exp: 1 }) })) {
        assert.match(members({ ...good, [name]: bad }, expected).join(), new RegExp(`^${name} is no `));
        assert.match(members({ ...good, [name]: undefined }, expected).join(), new RegExp(`^${name} is no .*absent`));
    }
    assert.match(members(good, { id: 'number', x: 'nonsense' }).join(), /id is no number.*there is no type nonsense/);
    assert.equal(claims('no token'), undefined);
});

test('what a case says of an answer is checked', () => {
    const got = answer({ id: 'a', items: [{ n: 1 }, { n: 2 }], type: 'list' }, { headers: { 'x-tag': 'site:a' } });
    const right = { values: { id: 'a', 'items[].n': [1, 2] }, absent: ['none'], headers: { 'x-tag': 'site:a' }, kinds: ['list'], contains: ['"n":2'], lacks: ['secret'] };
    assert.deepEqual(outcome(right, got), []);
    const wrong = {
        status: 404, values: { id: 'b' }, absent: ['items[].n'], headers: { 'x-tag': 'space:a' }, kinds: ['hint'], contains: ['secret'], lacks: ['"n":2'],
    };
    for (const [part, value] of Object.entries(wrong)) {
        assert.equal(outcome({ ...right, [part]: value }, got).length, 1, part);
    }
});

test('an answer is judged by the published document as well', () => {
    const replay = new Replay({ calls: { embed: { method: 'GET', path: '/urls/embed', members: { title: 'string' } } }, generation: 'any', contract: new Contract() });
    const judge = (got, step = {}) => replay.judge(replay.call('embed'), step, got);
    const good = { type: 'link', title: 'A', site: 'a.example' };
    assert.deepEqual(judge(answer(good)), []);
    assert.match(judge(answer({ ...good, site: 7 })).join(), /site must be string/);
    assert.match(judge(answer({ ...good, title: undefined })).join(), /title is no string/);
    assert.match(judge(answer(good), { status: 404 }).join(), /the status is 200, not 404/);
    assert.match(judge(answer({ error: { code: 404, message: 'none' } }, { status: 404 })).join(), /the status is 404, not 200/);
    assert.match(judge(answer({ error: 'none' }, { status: 404 }), { status: 404 }).join(), /error/);
    assert.match(judge(answer(good, { pathname: '/v1/nothing' })).join(), /is no operation of the published document/);
    assert.throws(() => replay.call('none'), /no call is named none/);
});

test('a page view begins with the addresses above it', () => {
    assert.deepEqual(candidates('https://a.example/b/c/d/e/f'), ['', 'b', 'b/c', 'b/c/d', 'b/c/d/e'].map((p) => `https://a.example/${p}`));
    assert.deepEqual(candidates('https://a.example/b/~/changes/1/c'), ['https://a.example/', 'https://a.example/b']);
    const pages = [{ type: 'group', pages: [{ type: 'document', id: 'a', path: 'x/a' }] }, { type: 'document', id: 'b', path: 'b' }];
    assert.deepEqual(['', 'b', 'none'].map((path) => pageAt(pages, path)), ['a', 'b', undefined]);
});
