import { execFile } from 'node:child_process'
import { createHash, createPrivateKey, X509Certificate } from 'node:crypto'
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { EdgeDescription } from '../../../lab/description.ts'
import { findProgram } from '../../../lab/program.ts'
import { askEdge } from '../../../src/edge/visit/ask.ts'

/** An edge of the lab: its files and the state of its nginx. */
export interface EdgeView {
  readonly server: string
  /** The folder of Drawbridge. */
  readonly folder: string
  /** Host -> the plan that the header of its file names; `undefined` for a file that Drawbridge did not write. */
  readonly hosts: ReadonlyMap<string, string | undefined>
  /** Host -> certificate id. */
  readonly entries: ReadonlyMap<string, string>
  readonly certificates: readonly string[]
  readonly keys: readonly string[]
  /** Files that a validation or a swap failed to remove. */
  readonly leftOvers: readonly string[]
}

export function viewOf(edge: EdgeDescription): EdgeView {
  const folder = dirname(edge.hosts)
  const maps = (kind: string) => namesIn(join(folder, 'tls', kind), '.map')
  const text = (...path: string[]) => readFileSync(join(folder, ...path), 'utf8')
  return {
    server: edge.server,
    folder,
    hosts: new Map(namesIn(edge.hosts, '.conf').map((host) => [host, planIn(text('hosts', `${host}.conf`))])),
    entries: new Map(
      maps('hosts').map((host) => [host, / ([0-9a-f]+);/.exec(text('tls/hosts', `${host}.map`))?.[1] ?? '']),
    ),
    certificates: maps('certificates'),
    keys: maps('keys'),
    leftOvers: [
      ...namesIn(join(folder, '.staging'), '').map((name) => join('.staging', name)),
      ...readdirSync(dirname(edge.config)).filter((name) => name.startsWith('.')),
      ...strayNames(folder),
    ],
  }
}

const namesIn = (folder: string, end: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => name.endsWith(end))
        .map((name) => name.slice(0, name.length - end.length))
    : []

/** Files whose extension does not belong in their folder. */
const strayNames = (folder: string): string[] =>
  (['hosts', 'tls/hosts', 'tls/certificates', 'tls/keys', 'tls/more'] as const).flatMap((path) =>
    namesIn(join(folder, path), '')
      .filter((name) => !name.endsWith(path === 'hosts' ? '.conf' : '.map'))
      .map((name) => join(path, name)),
  )

const planIn = (text: string): string | undefined => /^# \S+: made by Drawbridge for (plan_\w+)\./.exec(text)?.[1]

/** Whether the certificate and the key of this id match. */
export function isPair({ folder }: EdgeView, id: string): boolean {
  const pem = (kind: 'certificate' | 'key') => {
    const more = namesIn(join(folder, 'tls/more'), '.map').filter((name) => name.startsWith(`${id}.${kind}-`))
    const files = [`tls/${kind}s/${id}.map`, ...more.toSorted().map((name) => `tls/more/${name}.map`)]
    return files.map((file) => /"([^"]+)"/.exec(readFileSync(join(folder, file), 'utf8'))?.[1] ?? '').join('')
  }
  return new X509Certificate(pem('certificate')).checkPrivateKey(createPrivateKey(pem('key')))
}

/** Whether the running nginx of the edge serves this host. */
export async function serves({ address, http, https }: EdgeDescription, host: string): Promise<boolean> {
  const answer = await askEdge({ address, ports: { http, https } }, { host, path: '/', tls: false })
  return answer.kind === 'answer'
}

/** The complaint of `nginx -t` about the configuration on disk; empty when it is valid. */
export function configurationFault({ prefix, config }: EdgeDescription): Promise<string> {
  return new Promise((resolve) => {
    execFile(
      findProgram('nginx', 'nginx'),
      ['-t', '-q', '-e', 'stderr', '-p', prefix, '-c', config],
      (error, _out, said) => resolve(error ? said || error.message : ''),
    )
  })
}

/** What changes and undos leave in the folder of an edge, as `listing` has it. Fences outlive the undo of their run. */
export const configurationListing = (folder: string): string[] =>
  listing(folder).filter((line) => !line.startsWith('.fences '))

/** Every file and folder below `folder`, with mode and content, for a comparison byte by byte. */
export function listing(folder: string, path = ''): string[] {
  return readdirSync(join(folder, path))
    .toSorted()
    .flatMap((name) => {
      const below = join(path, name)
      const stat = lstatSync(join(folder, below))
      const mode = (stat.mode & 0o7777).toString(8)
      if (stat.isDirectory()) return [`${below}/ ${mode}`, ...listing(folder, below)]
      if (stat.isSymbolicLink()) return [`${below} -> ${readlinkSync(join(folder, below))}`]
      return [
        `${below} ${mode} ${createHash('sha256')
          .update(readFileSync(join(folder, below)))
          .digest('hex')}`,
      ]
    })
}
