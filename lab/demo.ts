import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import type { LabDescription } from './description.ts'
import { isPortFree } from './free-port.ts'
import type { Stoppable } from './parts.ts'
import { findProgram } from './program.ts'

type Demonstrated = Pick<LabDescription, 'inside' | 'zone' | 'backends' | 'edges' | 'dns'>

/** One exposure of the demonstration, and what makes its state. */
interface Sample {
  readonly subdomain: string
  readonly server: '25' | '253'
  readonly tls: boolean
  readonly expiresIn?: number
  /** The status of the answers through the edge after the apply. */
  readonly answers?: number
  readonly delayMs?: number
  /** Done after the apply. */
  readonly after?: 'stop' | 'hang' | 'withdraw' | 'edit' | 'mix-up'
  /** The entry is edited by hand during the apply, and the apply fails: its rollback is blocked. */
  readonly isBlocked?: boolean
}

const SAMPLES: readonly Sample[] = [
  { subdomain: 'shop', server: '25', tls: true },
  { subdomain: 'chat', server: '25', tls: true, after: 'hang' },
  { subdomain: 'files', server: '253', tls: true, delayMs: 350, after: 'mix-up' },
  { subdomain: 'preview', server: '253', tls: false, expiresIn: 3_600 },
  { subdomain: 'api', server: '25', tls: true, after: 'stop' },
  { subdomain: 'billing', server: '25', tls: true, answers: 503 },
  { subdomain: 'wiki', server: '253', tls: false, answers: 404 },
  { subdomain: 'docs', server: '253', tls: false, after: 'withdraw' },
  { subdomain: 'grafana', server: '253', tls: true, after: 'edit' },
  { subdomain: 'legacy', server: '25', tls: false, isBlocked: true },
]

/** Makes ten exposures in every state, so that a visitor sees all of them at once. */
export async function startDemo(lab: Demonstrated): Promise<Stoppable> {
  const servers: Server[] = []
  for (const sample of SAMPLES) await show(lab, sample, servers)
  return {
    async stop() {
      for (const server of servers) server.close().closeAllConnections()
    },
  }
}

async function show(lab: Demonstrated, sample: Sample, servers: Server[]): Promise<void> {
  const { subdomain, server, tls, expiresIn, delayMs = 5, answers = 200, isBlocked = false } = sample
  const host = `${subdomain}.${lab.zone}`
  let isApplied = false
  let isEdited = false
  const backend = createServer((request, response) => {
    const isThroughEdge = request.headers['x-forwarded-for'] !== undefined
    if (isBlocked && isThroughEdge && !isEdited) {
      isEdited = true
      edit(lab, host)
    }
    if (isApplied && sample.after === 'hang') return
    const status = isBlocked && isThroughEdge ? 500 : isApplied ? answers : 200
    setTimeout(() => response.writeHead(status).end(`${host}\n`), delayMs)
  })
  servers.push(backend)
  const address = lab.backends.find((one) => one.server === server)?.address
  const former = formerPort(lab, host)
  const isFree = former !== undefined && address !== undefined && (await isPortFree(address, former))
  backend.listen(isFree ? former : 0, address)
  await once(backend, 'listening')
  const { port } = backend.address() as { port: number }
  const request = { zone: lab.zone, subdomain, server, port, health: '/', tls, ...(expiresIn && { expiresIn }) }
  const { planId } = await post(lab, '/api/deploy/plan', request)
  if (planId === undefined) {
    // A demonstration of an earlier start has exposed the host already. What it did to the entry and to DNS still stands.
    isApplied = true
    if (sample.after === 'stop') backend.close().closeAllConnections()
    return
  }
  const { capability } = await post(lab, '/api/internal/token', { planId })
  await post(lab, '/api/deploy/apply', { planId }, { 'x-deploy-capability': String(capability) })
  isApplied = true
  if (sample.after === 'stop') backend.close().closeAllConnections()
  if (sample.after === 'edit') edit(lab, host)
  if (sample.after === 'withdraw') withdraw(lab, host)
  if (sample.after === 'mix-up') mixUp(lab, host)
}

/** The port of the backend to which an earlier demonstration has exposed the host. */
function formerPort({ edges }: Demonstrated, host: string): number | undefined {
  const line = linesOf(edges.primary.hosts).find((one) => one.startsWith(`${host} `))
  const port = Number(/:(\d+);/.exec(line ?? '')?.[1])
  return port > 0 ? port : undefined
}

/** The lines of all files in a folder. */
function linesOf(folder: string): string[] {
  try {
    return readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
  } catch {
    return []
  }
}

async function post(
  { inside }: Demonstrated,
  path: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<Record<string, unknown>> {
  const answer = await fetch(`${inside}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return (await answer.json()) as Record<string, unknown>
}

/** Changes the entry of a host as an administrator with an editor would. */
function edit({ edges }: Demonstrated, host: string): void {
  const folder = edges.primary.hosts
  const file = readdirSync(folder)
    .map((name) => join(folder, name))
    .find((path) =>
      readFileSync(path, 'utf8')
        .split('\n')
        .some((line) => line.startsWith(`${host} `)),
    )
  if (!file) return
  const lines = readFileSync(file, 'utf8').split('\n')
  const edited = lines.map((line) => (line.startsWith(`${host} `) ? `${line} # changed by hand` : line))
  writeFileSync(file, edited.join('\n'))
}

/** Gives a host the certificate of another one, as a slip of the hand would, and tells nginx. */
function mixUp({ edges: { primary } }: Demonstrated, host: string): void {
  const folder = join(primary.folder, 'current')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.map'))
  const texts = new Map(files.map((path) => [join(folder, path), readFileSync(join(folder, path), 'utf8')]))
  const lines = [...texts.values()].flatMap((text) => text.match(/^\S+ [0-9a-f]{32};$/gm) ?? [])
  const other = lines.find((line) => !line.startsWith(`${host} `))?.split(' ')[1]
  const own = lines.find((line) => line.startsWith(`${host} `))
  if (!other || !own) return
  for (const [path, text] of texts) if (text.includes(own)) writeFileSync(path, text.replace(own, `${host} ${other}`))
  process.kill(Number(readFileSync(primary.pidFile, 'utf8')), 'SIGHUP')
}

/** Deletes the record of a host from the zone behind Drawbridge's back. */
function withdraw({ dns, zone }: Demonstrated, host: string): void {
  const { name, algorithm, secretFile } = dns.tsig
  const input = [
    `server ${dns.primary.address} ${dns.primary.port}`,
    `zone ${zone}`,
    `key ${algorithm}:${name} ${readFileSync(secretFile, 'utf8')}`,
    `update delete ${host}. A`,
    'send',
    '',
  ].join('\n')
  execFileSync(findProgram('nsupdate', 'bind9-dnsutils'), { input, stdio: ['pipe', 'pipe', 'inherit'] })
}
