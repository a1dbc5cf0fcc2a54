// Reads the types of vendors' clients and writes what they say as JSON Schema, in the form of sandbox/facts:
// node types.mjs NETWORK PACKAGES OUT. operations/NETWORK.ts says which types belong to which operation.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const [network, packages, out] = process.argv.slice(2);
const ts = createRequire(join(packages, "node_modules", "x"))("typescript");
const source = join(dirname(fileURLToPath(import.meta.url)), "operations", `${network}.ts`);
// Clients of these write names as JavaScript does, and send them with underscores.
const isSnake = ["mastodon", "x"].includes(network);

// The file is compiled beside the packages, where their types are found.
const beside = join(packages, `.operations-${network}.ts`);
const host = ts.createCompilerHost({});
const text = readFileSync(source, "utf8");
const read = host.readFile.bind(host);
const exists = host.fileExists.bind(host);
host.readFile = (file) => (file === beside ? text : read(file));
host.fileExists = (file) => file === beside || exists(file);
host.getSourceFile = (file, target) => {
    const found = host.readFile(file);
    return found === undefined ? undefined : ts.createSourceFile(file, found, target);
};
const program = ts.createProgram(
    [beside],
    {
        strict: true, noEmit: true, skipLibCheck: true, target: ts.ScriptTarget.ES2022,
        module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext,
        allowImportingTsExtensions: true, types: [],
    },
    host,
);
const checker = program.getTypeChecker();
const file = program.getSourceFile(beside);
const wrong = [...program.getSemanticDiagnostics(file), ...program.getSyntacticDiagnostics(file)];
if (wrong.length) {
    for (const one of wrong) console.error(`${network}: ${ts.flattenDiagnosticMessageText(one.messageText, " ")}`);
    process.exit(1);
}

const OPAQUE = new Set([
    "Date", "Blob", "File", "Buffer", "Uint8Array", "ReadStream", "ReadableStream", "Readable", "FormData", "Function",
]);
const types = {};
const names = new Map();

function wireName(name, inQuery) {
    if (!isSnake) return name;
    if (inQuery && network === "x" && name.endsWith("Fields")) return `${name.slice(0, -6)}.fields`;
    return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function literal(type) {
    if (type.flags & ts.TypeFlags.BooleanLiteral) return type.intrinsicName === "true";
    return typeof type.value === "object" ? Number(`${type.value.negative ? "-" : ""}${type.value.base10Value}`) : type.value;
}

function union(type, inQuery) {
    const parts = type.types.filter((one) => !(one.flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Never)));
    const isLiteral = (one) => one.flags & (ts.TypeFlags.Literal | ts.TypeFlags.BooleanLiteral) && !(one.flags & ts.TypeFlags.Null);
    const literals = parts.filter(isLiteral).map((one) => literal(one));
    const others = parts.filter((one) => !isLiteral(one)).map((one) => schema(one, inQuery));
    const made = [];
    if (literals.includes(true) && literals.includes(false)) {
        made.push({ type: "boolean" });
    }
    const listed = literals.filter((one) => typeof one !== "boolean" || !made.length);
    if (listed.length) made.push({ enum: listed });
    for (const one of others) {
        if (!made.some((known) => JSON.stringify(known) === JSON.stringify(one))) made.push(one);
    }
    return made.length === 1 ? made[0] : { anyOf: made };
}

function object(type, inQuery) {
    const properties = {};
    const required = [];
    for (const one of checker.getPropertiesOfType(type)) {
        if (one.name.startsWith("__@")) continue;
        const inner = checker.getTypeOfSymbolAtLocation(one, file);
        if (inner.getCallSignatures().length || inner.flags & ts.TypeFlags.Never) continue;
        const parts = inner.isUnion() ? inner.types : [inner];
        if (parts.every((part) => part.flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Never))) continue;
        const name = wireName(one.name, inQuery);
        properties[name] = schema(inner, inQuery);
        const isOptional = one.flags & ts.SymbolFlags.Optional || parts.some((part) => part.flags & ts.TypeFlags.Undefined);
        if (!isOptional) required.push(name);
    }
    const made = { type: "object" };
    if (Object.keys(properties).length) made.properties = properties;
    if (required.length) made.required = required;
    const index = checker.getIndexInfoOfType(type, ts.IndexKind.String);
    // Clients let names pass that they do not know; the vendor's are those that they name.
    if (index && !made.properties) made.additionalProperties = schema(index.type, inQuery);
    return made;
}

// Types may hold themselves, so each has a name.
function named(type, inQuery, make) {
    const key = `${type.id}${inQuery ? "q" : ""}`;
    if (!names.has(key)) {
        const symbol = (type.aliasSymbol ?? type.symbol)?.name ?? "";
        const name = `${/^[A-Za-z]\w*$/.test(symbol) ? symbol : "Inner"}${names.size}`;
        names.set(key, name);
        types[name] = {};
        types[name] = make(type, inQuery);
    }
    return { $ref: `#/types/${names.get(key)}` };
}

function schema(type, inQuery = false) {
    const flags = type.flags;
    const symbol = type.symbol?.name;
    if (flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return {};
    if (flags & ts.TypeFlags.Null) return { type: "null" };
    if (flags & (ts.TypeFlags.Literal | ts.TypeFlags.BooleanLiteral) && !type.isUnion()) return { const: literal(type) };
    if (type.isUnion()) return type.aliasSymbol ? named(type, inQuery, union) : union(type, inQuery);
    if (flags & (ts.TypeFlags.String | ts.TypeFlags.TemplateLiteral | ts.TypeFlags.StringMapping)) return { type: "string" };
    if (flags & (ts.TypeFlags.Number | ts.TypeFlags.BigInt)) return { type: "number" };
    if (flags & ts.TypeFlags.Boolean) return { type: "boolean" };
    if (checker.isArrayType(type) || checker.isTupleType(type)) {
        const inside = checker.getTypeArguments(type).map((one) => schema(one, inQuery));
        return { type: "array", items: inside.length === 1 ? inside[0] : { anyOf: inside } };
    }
    if (OPAQUE.has(symbol)) return {};
    if (type.isIntersection() && type.types.some((one) => one.flags & ts.TypeFlags.String)) return { type: "string" };
    if (flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) return named(type, inQuery, object);
    return {};
}

function part(type, name) {
    const found = checker.getPropertyOfType(type, name);
    return found && checker.getTypeOfSymbolAtLocation(found, file);
}

function stripped(type) {
    return checker.getNonNullableType(type);
}

const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(file));
const list = checker.getDeclaredTypeOfSymbol(exported.find((one) => one.name === "Operations"));
const operations = checker.getPropertiesOfType(list).map((one) => {
    const [method, path] = one.name.split(" ");
    const type = checker.getTypeOfSymbolAtLocation(one, file);
    const made = { name: `${method} ${path}`, method, path, scopes: [], body: { type: "none" }, answers: {} };
    const query = part(type, "query");
    if (query) made.query = schema(stripped(query), true);
    const body = part(type, "body");
    if (body) made.body = { type: "json", schema: schema(stripped(body)) };
    const answers = part(type, "answers");
    for (const answer of answers ? checker.getPropertiesOfType(answers) : []) {
        made.answers[answer.name] = schema(checker.getTypeOfSymbolAtLocation(answer, file));
    }
    return made;
});
const facts = { network, unknown: { body: "passes" }, operations, types, nodes: {}, metrics: [] };
writeFileSync(out, JSON.stringify(facts));
