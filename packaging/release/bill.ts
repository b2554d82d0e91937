import Database from 'better-sqlite3'
import { readJson } from '../files.ts'
import { bundledFolders } from '../notices.ts'

/** What is needed of package-lock.json. */
interface Locked {
  readonly version: string
  /** As npm writes it: the algorithm and the hash in base64. */
  readonly integrity: string
}

interface Component {
  readonly type: 'library' | 'application'
  readonly 'bom-ref': string
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly licenses?: readonly object[]
  readonly hashes?: readonly object[]
  /** What it brings along, in its compiled code. */
  readonly components?: readonly Component[]
}

interface BillOptions {
  readonly checkout: string
  readonly version: string
  readonly epoch: number
}

/** Those parts of Node that have versions of their own and are in its program. */
const IN_NODE = [
  'openssl',
  'v8',
  'uv',
  'zlib',
  'icu',
  'nghttp2',
  'ares',
  'llhttp',
  'sqlite',
  'brotli',
  'simdjson',
  'undici',
]

/** A bill of materials in the format CycloneDX: everything that has code in the packages. The same commit gives the same text. */
export function billOfMaterials({ checkout, version, epoch }: BillOptions): string {
  const locked: Readonly<Record<string, Locked>> = readJson(`${checkout}/package-lock.json`).packages
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: {
      timestamp: new Date(epoch * 1000).toISOString(),
      component: { ...named('application', 'drawbridge', version, 'generic'), licenses: licensesOf('MIT') },
    },
    components: [...npmComponents(checkout, locked), nodeComponent(checkout)],
  }
  return `${JSON.stringify(bill, null, 2)}\n`
}

/** Each version once: npm may have put it into several folders. */
function npmComponents(checkout: string, locked: Readonly<Record<string, Locked>>): readonly Component[] {
  const all = bundledFolders().map((folder) => npmComponent(checkout, folder, locked))
  return [...new Map(all.map((component) => [component.purl, component])).values()]
}

function npmComponent(checkout: string, folder: string, locked: Readonly<Record<string, Locked>>): Component {
  const found = locked[folder]
  if (!found) throw new Error(`${folder} is in a bundle and not in package-lock.json.`)
  const { name, license } = readJson(`${checkout}/${folder}/package.json`)
  const parts = broughtAlong(checkout, name)
  return {
    ...named('library', name, found.version, 'npm'),
    licenses: licensesOf(license),
    hashes: [hashOf(found.integrity)],
    ...(parts.length > 0 && { components: parts }),
  }
}

/** The works of others that npm packages have in them. */
function broughtAlong(checkout: string, name: string): readonly Component[] {
  if (name === 'better-sqlite3') return [named('library', 'sqlite', sqliteVersion(), 'generic')]
  if (name !== '@fastify/swagger-ui') return []
  const { devDependencies } = readJson(`${checkout}/node_modules/${name}/package.json`)
  return [named('library', 'swagger-ui-dist', devDependencies['swagger-ui-dist'], 'npm')]
}

function sqliteVersion(): string {
  const database = new Database(':memory:')
  const { version } = database.prepare('select sqlite_version() as version').get() as { version: string }
  database.close()
  return version
}

function nodeComponent(checkout: string): Component {
  const { version } = readJson(`${checkout}/node_modules/node/package.json`)
  if (process.versions.node !== version)
    throw new Error(`This is Node ${process.versions.node}. The bill tells the parts of Node ${version}: run it there.`)
  const parts = IN_NODE.flatMap((name) => {
    const its = process.versions[name]
    return its === undefined ? [] : [named('library', name, its, 'generic')]
  })
  return { ...named('application', 'node', version, 'generic'), licenses: licensesOf('MIT'), components: parts }
}

const named = (type: Component['type'], name: string, version: string, kind: 'npm' | 'generic') => {
  const purl = `pkg:${kind}/${name.replace('@', '%40')}@${encodeURIComponent(version)}`
  return { type, 'bom-ref': purl, name, version, purl }
}

const licensesOf = (license: string): readonly object[] =>
  /^[\w.+-]+$/.test(license) ? [{ license: { id: license } }] : [{ expression: license }]

function hashOf(integrity: string): object {
  const [algorithm = '', value = ''] = integrity.split('-')
  return { alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(value, 'base64').toString('hex') }
}
