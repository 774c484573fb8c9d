// Runs the built script of an integration as a tunnel leads to it: node tunnel.mjs <script>. It prints its address, and ends with its
// standard input.
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';

const { default: integration } = await import(pathToFileURL(process.argv[2]));
const server = createServer(async (incoming, outgoing) => {
    const chunks = [];
    for await (const chunk of incoming) {
        chunks.push(chunk);
    }
    const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
        method: incoming.method, headers: incoming.headers, body: chunks.length > 0 ? Buffer.concat(chunks) : undefined,
    });
    const response = await integration.fetch(request, {}, { waitUntil: () => {} });
    outgoing.writeHead(response.status).end(await response.text());
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
process.stdin.resume().on('end', () => process.exit(0));
