import { createHash, randomBytes } from 'node:crypto'
import { Problem } from '../../model/errors.ts'
import type { EdgeStanding, HostStatus } from '../../model/host-status.ts'
import type { Board } from '../../monitor/board.ts'
import { listHosts, type Place } from '../../monitor/listing.ts'
import type { Clock } from '../../primitives/clock.ts'
import type { Muting } from '../../usecases/muting.ts'
import type { App } from '../app.ts'
import { compressed } from '../guard/compressed.ts'
import { MutedBody, MuteParams, MuteRequestBody, UnmuteRequestBody } from '../schemas/mute-schemas.ts'
import { problems } from '../schemas/problem-schemas.ts'
import { pageLimit } from '../schemas/schema-parts.ts'
import { HealthBody, HostQuery, HostsBody, HostsQuery, NotModified } from '../schemas/status-schemas.ts'
import { tellAge, type Unconfirmed } from './age.ts'
import {
  canonicalHost,
  edgeBody,
  findHost,
  healthBody,
  hostRow,
  muteBody,
  patternBody,
  serverFor,
  type Visibility,
} from './host-body.ts'

/** While the store answers, the board is confirmed several times in this time. */
const CONFIRMED_WITHIN_MS = 3_000

interface HostParts {
  readonly board: Board
  readonly upToDate: (host?: string) => Promise<void>
  readonly hostsUnconfirmedMs: Unconfirmed
  /** How far the edges of this instance are from the store. */
  readonly standings: { readonly all: readonly EdgeStanding[]; readonly revision: number }
  readonly clock: Clock
}

/** Serves the last results of the monitor. No route here sends a request to a host. */
export function hostRoutes(app: App, parts: HostParts, visibleTo: Visibility): void {
  const { board, upToDate, standings, clock } = parts
  // Revisions start again at every start of the process, so ETags contain a random part.
  const processId = randomBytes(6).toString('base64url')

  const ageMs: Unconfirmed = () => {
    const unconfirmedMs = parts.hostsUnconfirmedMs() ?? 0
    return unconfirmedMs > CONFIRMED_WITHIN_MS ? unconfirmedMs : undefined
  }

  app.get(
    '/api/health',
    {
      schema: {
        operationId: 'getHealth',
        tags: ['status'],
        summary: "Read a host's last check, its server and the path of its configuration file",
        querystring: HostQuery,
        response: { 200: HealthBody, ...problems('invalid_request', 'host_not_found') },
      },
    },
    async ({ query, caller }, reply) => {
      const host = canonicalHost(query.host)
      await upToDate(host)
      tellAge(reply, ageMs())
      return healthBody(findHost(board, host, visibleTo(caller.network)), caller.network, clock.now())
    },
  )

  app.get(
    '/api/hosts',
    {
      onSend: compressed,
      schema: {
        operationId: 'listHosts',
        tags: ['status'],
        summary: "List every host of the Primary's edge with its badge",
        querystring: HostsQuery,
        response: { 200: HostsBody, 304: NotModified, ...problems('invalid_request') },
      },
    },
    async ({ query, caller, headers }, reply) => {
      await upToDate()
      tellAge(reply, ageMs())
      const tag = tagOf([processId, board.revision, standings.revision, caller.network, query])
      reply.header('etag', tag)
      if (headers['if-none-match'] === tag) return reply.code(304).send(null)
      const shown = [...board.all()].filter(visibleTo(caller.network))
      const body = hostsBody(shown, query, caller.network, clock.now())
      if (caller.network !== 'internal') return body
      const patterns = query.cursor === undefined ? board.patterns.map(patternBody) : []
      return { ...body, edges: standings.all.map(edgeBody), ...(patterns.length > 0 && { patterns }) }
    },
  )
}

/** Mutes a host and ends it. Both need the internal network, and no capability: a foreign host has no plan to bind one to. */
export function muteRoutes(app: App, muting: Muting): void {
  const config = (audited: 'mute' | 'unmute') => ({ internalOnly: true, audited })
  const refusals = ['invalid_request', 'payload_too_large', 'internal_network_required', 'host_not_found'] as const
  app.post(
    '/api/hosts/:host/mute',
    {
      config: config('mute'),
      schema: {
        operationId: 'muteHost',
        tags: ['status'],
        summary: 'Mute a host: it is checked as before, but needs no attention and causes no alert and no webhook',
        params: MuteParams,
        body: MuteRequestBody,
        response: { 200: MutedBody, ...problems(...refusals) },
      },
    },
    async ({ params, body, caller }) => {
      const host = canonicalHost(params.host)
      return { host, muted: muteBody(await muting.mute(host, body, caller)) }
    },
  )
  app.post(
    '/api/hosts/:host/unmute',
    {
      config: config('unmute'),
      schema: {
        operationId: 'unmuteHost',
        tags: ['status'],
        summary: 'End the mute of a host',
        params: MuteParams,
        body: UnmuteRequestBody,
        response: { 200: MutedBody, ...problems(...refusals, 'muted_by_configuration') },
      },
    },
    async ({ params, caller }) => {
      const host = canonicalHost(params.host)
      const left = await muting.unmute(host, caller)
      return { host, muted: left ? muteBody(left) : null }
    },
  )
}

function hostsBody(
  shown: readonly HostStatus[],
  query: HostsQuery,
  network: 'internal' | 'public',
  at: number,
): HostsBody {
  const { page, matched, next, counts, servers } = listHosts(
    shown,
    {
      search: query.search?.toLowerCase(),
      needsAttention: query.needsAttention && network,
      prefix: query.prefix?.toLowerCase(),
      badges: query.badge?.split(',').map((badge) => badge.trim()),
      server: query.server,
      managed: query.managed === undefined ? undefined : query.managed === 'true',
      muted: query.muted === undefined || network === 'public' ? undefined : query.muted === 'true',
      sort: query.sort ?? 'host',
      order: query.order ?? 'asc',
      limit: pageLimit(query.limit, 100),
      after: query.cursor === undefined ? undefined : parseCursor(query.cursor),
      at,
    },
    serverFor(network),
  )
  return {
    hosts: page.map((status) => hostRow(status, network, at)),
    total: shown.length,
    matched,
    nextCursor: next && cursorTo(next),
    counts: { ...counts },
    servers: [...servers],
    at: new Date(at).toISOString(),
  }
}

const tagOf = (parts: readonly unknown[]): string =>
  `W/"${createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22)}"`

const cursorTo = (place: Place): string => Buffer.from(JSON.stringify(place)).toString('base64url')

function parseCursor(cursor: string): Place {
  try {
    const [value, host, ...more] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[]
    const isValue = value === null || typeof value === 'string' || typeof value === 'number'
    if (isValue && typeof host === 'string' && more.length === 0) return [value, host]
  } catch {
    // Falls through to the refusal.
  }
  const errors = [{ field: 'cursor', message: 'must be the nextCursor of an earlier answer' }]
  throw new Problem('invalid_request', 'The cursor is not valid.', { errors })
}
