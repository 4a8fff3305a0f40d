// mcp_client: apsis mcp through the official client library. node mcp_client.mjs APSIS DIRECTORY: one line of JSON with
// what the client saw. Lies beside the library's node_modules when it runs.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { writeFileSync } from "node:fs";

const [apsis, cwd] = process.argv.slice(2);
const client = new Client({ name: "apsis-test", version: "1" }, { capabilities: {} });
const transport = new StdioClientTransport({ command: apsis, args: ["mcp"], cwd, env: process.env });
const seen = { texts: {} };
const call = async (name, args = {}) => {
  const result = await client.callTool({ name, arguments: args });
  seen.texts[name] = (result.isError ? "error: " : "") + result.content.map(part => part.text).join("");
  return seen.texts[name];
};

await client.connect(transport);
seen.server = client.getServerVersion();
seen.protocol = transport.protocolVersion ?? transport._protocolVersion;
seen.instructions = client.getInstructions();
seen.tools = (await client.listTools()).tools.map(tool => tool.name);
await client.ping();
await call("status");
const directory = /^directory: (.*)$/m.exec(await call("next"))[1];
writeFileSync(directory + "/value.txt", "25\n");
await call("submit", { dir: directory, title: "the client's" });
await call("wait", { id: "c0001" });
await call("log", { count: 5 });
await call("show");
await call("diff");
await call("direct", { message: "a note" });
await call("metrics", { text: "METRIC a=1" });
const both = await Promise.all([client.callTool({ name: "status" }), client.callTool({ name: "log" })]);
seen.both = both.map(result => result.content[0].text.length > 0);
try {
  await client.callTool({ name: "rm", arguments: {} });
} catch (error) {
  seen.unknown = error.code;
}
await client.close();
console.log(JSON.stringify(seen));
