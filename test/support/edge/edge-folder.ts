import { execFile } from 'node:child_process'
import { createHash, createPrivateKey, X509Certificate } from 'node:crypto'
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { EdgeDescription } from '../../../lab/description.ts'
import { findProgram } from '../../../lab/program.ts'
import { askEdge } from '../../../src/edge/visit/ask.ts'
import { systemClock } from '../../../src/primitives/clock.ts'

/** An edge of the lab: its present generation and the state of its nginx. */
export interface EdgeView {
  readonly server: string
  /** The folder of Drawbridge. */
  readonly folder: string
  /** The folder of the generation that nginx includes. */
  readonly present: string
  /** Host -> the plan of its entry; `undefined` for an entry that Drawbridge did not write. */
  readonly hosts: ReadonlyMap<string, string | undefined>
  /** Host -> certificate id. */
  readonly entries: ReadonlyMap<string, string>
  readonly certificates: readonly string[]
  readonly keys: readonly string[]
  /** Files and generations that a validation or a swap failed to remove. */
  readonly leftOvers: readonly string[]
}

export function viewOf(edge: EdgeDescription): EdgeView {
  const folder = edge.folder
  const number = presentNumber(folder)
  const present = join(folder, 'generations', String(number))
  const all = (kind: string, pattern: RegExp) => [...gathered(present, kind).matchAll(pattern)]
  const idsIn = (kind: string) => all(kind, /^([0-9a-f]{32}) "/gm).map(([, id = '']) => id)
  return {
    server: edge.server,
    folder,
    present,
    hosts: new Map([
      ...all('backends', /^([a-z0-9.-]+) /gm).map(([, host = '']): [string, undefined] => [host, undefined]),
      ...all('entries', /^\{"host":"([^"]+)","entry":\{.*?"plan":"([^"]+)"/gm).map(
        ([, host = '', planId]): [string, string | undefined] => [host, planId],
      ),
      ...gathered(present, 'blocks')
        .split(/^#: /m)
        .slice(1)
        .map((block): [string, string | undefined] => [block.slice(0, block.indexOf('\n')), planIn(block)]),
    ]),
    entries: new Map(all('tls/hosts', /^(\S+) ([0-9a-f]+);$/gm).map(([, key = '', id = '']) => [hostOf(key), id])),
    certificates: idsIn('tls/certificates-1'),
    keys: idsIn('tls/keys-1'),
    leftOvers: [
      ...namesIn(join(folder, '.staging')).map((name) => join('.staging', name)),
      ...namesIn(dirname(edge.config)).filter((name) => name.startsWith('.')),
      ...namesIn(join(folder, 'generations'))
        .filter((name) => !(Number(name) <= number))
        .map((name) => join('generations', name)),
      ...(readlinkSync(join(folder, 'current')) === `generations/${number}` ? [] : ['current']),
    ],
  }
}

/** The number of the generation that nginx includes. */
const presentNumber = (folder: string): number =>
  Number(/generation (\d+)/.exec(readFileSync(join(folder, 'drawbridge.conf'), 'utf8'))?.[1])

/** The texts of all files of one kind. */
const gathered = (present: string, kind: string): string =>
  namesIn(join(present, kind))
    .map((name) => readFileSync(join(present, kind, name), 'utf8'))
    .join('')

const namesIn = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : [])

const planIn = (text: string): string | undefined => /^# \S+: made by Drawbridge for (plan_\w+)\./m.exec(text)?.[1]

/** Whether the certificate and the key of this id match. */
export function isPair({ present }: EdgeView, id: string): boolean {
  const pem = (kind: 'certificate' | 'key') =>
    [1, 2, 3, 4]
      .map((part) => new RegExp(`^${id} "([^"]+)"`, 'm').exec(gathered(present, `tls/${kind}s-${part}`))?.[1] ?? '')
      .join('')
  return new X509Certificate(pem('certificate')).checkPrivateKey(createPrivateKey(pem('key')))
}

/** Whether the running nginx of the edge serves this host. */
export async function serves({ address, http, https }: EdgeDescription, host: string): Promise<boolean> {
  const answer = await askEdge({ address, ports: { http, https }, clock: systemClock }, { host, path: '/', tls: false })
  return answer.kind === 'answer'
}

/** The complaint of `nginx -t` about the configuration on disk; empty when it is valid. `enter`: the way to the edge's machine. */
export function configurationFault(
  { prefix, config }: EdgeDescription,
  enter: readonly string[] = [],
): Promise<string> {
  const test = [findProgram('nginx', 'nginx'), '-t', '-q', '-e', 'stderr', '-p', prefix, '-c', config]
  const [program = '', ...args] = [...enter, ...test]
  return new Promise((resolve) => {
    execFile(program, args, (error, _out, said) => resolve(error ? said || error.message : ''))
  })
}

/** The present generation byte by byte, without its number: what changes and undos leave in the folder of an edge. */
export function configurationListing(folder: string): string[] {
  const number = presentNumber(folder)
  const base = readFileSync(join(folder, 'drawbridge.conf'), 'utf8').replaceAll(
    new RegExp(`(?<=generations?[ /])${number}\\b`, 'g'),
    'N',
  )
  return [
    base,
    // The second names say which files this generation has changed, so they differ after an undo. So do the runs that are not settled.
    ...listing(join(folder, 'generations', String(number))).filter(
      (line) => !/^(drawbridge\.conf |\.kept\/|\.runs )/.test(line),
    ),
  ]
}

/** Every file and folder below `folder`, with mode and content, for a comparison byte by byte. */
export function listing(folder: string, path = ''): string[] {
  return readdirSync(join(folder, path))
    .toSorted()
    .flatMap((name) => {
      const below = join(path, name)
      const stat = lstatSync(join(folder, below))
      const mode = (stat.mode & 0o7777).toString(8)
      if (stat.isDirectory()) return [`${below}/ ${mode}`, ...listing(folder, below)]
      if (stat.isSocket()) return [`${below} ${mode} socket`]
      if (stat.isSymbolicLink()) return [`${below} -> ${readlinkSync(join(folder, below))}`]
      return [
        `${below} ${mode} ${createHash('sha256')
          .update(readFileSync(join(folder, below)))
          .digest('hex')}`,
      ]
    })
}

/** A name that does not fit nginx's hash table is written as a pattern. */
const hostOf = (key: string): string => key.replace(/^"~\*\^(.+)\$"$/, '$1').replaceAll('\\.', '.')
