import { createHash } from 'node:crypto'
import type { Edge, EdgeFile, StandingEntry } from '../../edge/contract.ts'
import type { Plan } from '../../model/exposure.ts'
import type { Receipt } from '../../model/receipt.ts'
import { siteOf } from './context.ts'

type EntryEdge = Pick<Edge, 'filesFor' | 'read' | 'listens' | 'isCertificateFile'>

/** An entry as it stands, and as this version writes it. */
interface Digests {
  /** Undefined: the edge has no such entry. */
  readonly standing: string | undefined
  readonly rendered: string | undefined
}

/**
 * The digests of the entry of a plan on an edge. They leave out what differs from edge to edge: the addresses on which it listens, and
 * the paths that this edge itself would write there. So what one edge had tells whether somebody has edited it on another one.
 */
export async function digestsOn(edge: EntryEdge, plan: Plan, { certificate }: Receipt): Promise<Digests> {
  const pair = plan.request.tls && certificate ? { fingerprint: certificate.fingerprint } : undefined
  const files = await edge.filesFor({ ...siteOf(plan), certificate: pair })
  const rendered = files.filter(({ path }) => !edge.isCertificateFile(path))
  const [standing, listens] = await Promise.all([edge.read(rendered.map(({ path }) => path)), edge.listens()])
  const own = { listens, paths: pathsIn(rendered) }
  return { standing: digestOf(standing, own), rendered: digestOf(rendered, own) }
}

/**
 * Whether somebody has edited an entry: it is nothing that this store has given to an edge, now or before. What is written in another
 * layout than the edge's settings want now cannot be compared.
 */
export async function isEditedEntry(
  edge: EntryEdge,
  { planId, isInLayout }: StandingEntry,
  receipt: Receipt,
  findPlan: (planId: string) => Promise<Plan | undefined>,
): Promise<boolean> {
  const plan = planId === undefined ? undefined : await findPlan(planId)
  if (!plan || !isInLayout) return planId === undefined
  const { standing, rendered } = await digestsOn(edge, plan, receipt)
  return standing !== undefined && standing !== rendered && receipt.formerTexts?.includes(standing) !== true
}

/** What only this edge has in a text. */
interface Own {
  readonly listens: readonly string[]
  readonly paths: readonly string[]
}

function digestOf(files: readonly EdgeFile[], own: Own): string | undefined {
  const texts = files.flatMap(({ path, content }) => (content === null ? [] : [`${path}\n${plain(content, own)}`]))
  return texts.length === 0 ? undefined : createHash('sha256').update(texts.toSorted().join('\n')).digest('hex')
}

/** Other `listen` lines are an edit of somebody. */
const plain = (text: string, { listens, paths }: Own): string =>
  paths.reduce(
    (left, path, at) => left.replaceAll(path, `@${at}`),
    text.replaceAll(/^ *listen ([^\s;]+)[ a-z0-9]*;\n/gm, (line, at: string) => (listens.includes(at) ? '' : line)),
  )

const pathsIn = (files: readonly EdgeFile[]): string[] => [
  ...new Set(files.flatMap(({ content }) => content?.match(/(?<=\s)\/[^\s;"]{2,}/g) ?? [])),
]
