import type { Change } from '../../src/model/exposure.ts'
import type { Check } from '../../src/model/finding.ts'
import { optionWords } from '../../src/model/options/words.ts'
import type { Plan } from '../api/plans.ts'
import { inFull, span } from '../parts/time.ts'

/** One thing before and after an apply. */
export interface Contrast {
  readonly what: string
  readonly before: string
  readonly after: readonly string[]
  readonly isNew: boolean
}

type Compared = Pick<Plan, 'changes' | 'request'> & Partial<Pick<Plan, 'checks'>>

/** `former`: the plan that this one replaces, as soon as it is known. */
export function contrastsOf({ changes, request, checks = [] }: Compared, former?: Compared): readonly Contrast[] {
  if (request.replaces !== undefined) return former ? updateContrasts({ changes, request }, former) : []
  const certificates = of(changes, 'certificate').map((change) =>
    certificateContrast(change, certificateBefore(checks)),
  )
  const plainly = {
    what: 'Certificate',
    before: certificateBefore(checks),
    after: ['none (HTTP)'],
    isNew: false,
  }
  return [
    ...(request.tls ? certificates : [plainly]),
    ...of(changes, 'proxy').map(({ serverName, target, https }) => ({
      what: 'Proxy entry',
      before: entryBefore(checks),
      after: [
        `server_name ${serverName}`,
        ...(target ? [`proxy_pass ${target}`] : []),
        ...(https ? ['https, and http'] : []),
      ],
      isNew: true,
    })),
    ...(request.options ? [{ what: 'Options', before: 'None', after: optionTexts(request), isNew: true }] : []),
    {
      what: 'DNS',
      before: recordsBefore(checks),
      after: of(changes, 'dns').map(({ name, ttl, type, value }) => `${name} ${ttl} ${type} ${value}`),
      isNew: true,
    },
  ]
}

const NOT_KNOWN = 'Not known'

/** What the checks of the plan found in DNS. */
function recordsBefore(checks: readonly Check[]): string {
  const check = checks.find(({ name }) => name === 'dns')
  if (!check) return NOT_KNOWN
  const { types, wildcardTypes } = check
  if (Array.isArray(types) && types.length > 0) return `Records: ${types.join(', ')}`
  if (Array.isArray(wildcardTypes) && wildcardTypes.length > 0)
    return `No own record; a wildcard answers ${wildcardTypes.join(', ')}`
  return 'No record'
}

/** What the checks of the plan found among the installed certificates. */
function certificateBefore(checks: readonly Check[]): string {
  const check = checks.find(({ name }) => name === 'certificate')
  if (!check) return NOT_KNOWN
  if (check.status === 'not_required') return 'Not looked for: HTTPS was not requested'
  if (check.source === 'installed' && typeof check.notAfter === 'string')
    return `Installed, valid until ${inFull(check.notAfter)}`
  return check.source === 'acme' ? 'No installed certificate covers the name' : NOT_KNOWN
}

/** What the former plan of a host is served with. */
function certificateOf({ changes, request }: Compared): string {
  if (!request.tls) return 'none (HTTP)'
  const [certificate] = of(changes, 'certificate')
  return certificate ? `That of the former plan: ${certificate.names.join(', ')}` : 'That of the former plan'
}

/** What the checks of the plan found in the configuration of the edge. */
function entryBefore(checks: readonly Check[]): string {
  const { status, detail } = checks.find(({ name }) => name === 'proxy') ?? {}
  return status === undefined
    ? NOT_KNOWN
    : status === 'passed'
      ? 'No server block for this name'
      : (detail ?? NOT_KNOWN)
}

const recordsOf = ({ changes }: Compared): string =>
  of(changes, 'dns')
    .filter(({ type }) => type !== 'TXT')
    .map(({ type, value }) => `${type} ${value}`)
    .join(', ') || 'Record of the name'

/** What an update changes, and what stays. */
function updateContrasts({ changes, request }: Compared, former: Compared): readonly Contrast[] {
  const contrast = (what: string, before: string, after: string): Contrast =>
    before === after
      ? { what, before, after: ['Stays as it is'], isNew: false }
      : { what, before, after: [after], isNew: true }
  const [certificate] = of(changes, 'certificate').map((change) => certificateContrast(change, certificateOf(former)))
  const both = (tell: (request: Plan['request']) => string) => [tell(former.request), tell(request)] as const
  return [
    contrast('Backend', ...both(({ server, port }) => `Server ${server}, port ${port}`)),
    contrast('Health path', ...both(({ health }) => health)),
    // What goes is no addition.
    { ...contrast('HTTPS', ...both(({ tls }) => (tls ? 'On' : 'Off'))), isNew: request.tls && !former.request.tls },
    ...(former.request.options || request.options
      ? [contrast('Options', ...both((one) => optionTexts(one).join(', ') || 'None'))]
      : []),
    ...(certificate ? [certificate] : []),
    contrast('DNS', recordsOf(former), recordsOf(former)),
    contrast('Removes itself', lifeOf(former.request, 'its'), lifeOf(request, 'this')),
  ]
}

const optionTexts = ({ options }: Pick<Plan['request'], 'options'>): string[] =>
  [...optionWords(options)].map(([name, value]) => `${name}: ${value}`)

/** The time counts from the apply of each plan, so an equal duration is another end. */
const lifeOf = ({ expiresIn }: Plan['request'], whose: 'its' | 'this'): string =>
  expiresIn === undefined ? 'Never' : `${span(expiresIn * 1000)} after ${whose} apply`

function certificateContrast(
  { action, names, notAfter, directory }: Extract<Change, { kind: 'certificate' }>,
  before: string,
): Contrast {
  if (action === 'reuse') {
    const until = notAfter ? `, valid until ${inFull(notAfter)}` : ''
    return { what: 'Certificate', before, after: [`The installed one${until}: ${names.join(', ')}`], isNew: false }
  }
  const from = directory ? `issued by ${new URL(directory).host}` : 'issued anew'
  return { what: 'Certificate', before, after: [names.join(', '), from], isNew: true }
}

const of = <K extends Change['kind']>(changes: readonly Change[], kind: K) =>
  changes.filter((change): change is Extract<Change, { kind: K }> => change.kind === kind)

/** The changes of an apply or a removal in sentences, for the person who confirms it. */
export function deedsOf(
  { changes, host }: Pick<Plan, 'changes' | 'host'>,
  action: 'apply' | 'remove',
): readonly string[] {
  const [proxy] = of(changes, 'proxy')
  const records = of(changes, 'dns').filter(({ type }) => type !== 'TXT')
  if (action === 'remove') {
    return [
      `The name ${host} goes out of DNS first, so that nobody is led to an edge that does not serve it.`,
      'Then the proxy entry goes from both edges. A backup is kept.',
      'The backend itself is not touched.',
    ]
  }
  const [certificate] = of(changes, 'certificate')
  return [
    ...(certificate
      ? [
          certificate.action === 'reuse'
            ? `The installed certificate for ${certificate.names.join(', ')} is used.`
            : `A certificate for ${certificate.names.join(', ')} is issued.`,
        ]
      : []),
    ...(proxy?.action === 'create' ? [`Both edges get an entry that passes ${host} on to ${proxy.target}.`] : []),
    ...(proxy?.action === 'update'
      ? [`On both edges the entry of ${host} changes, without a gap, and passes it on to ${proxy.target}.`]
      : []),
    ...(proxy?.action === 'adopt'
      ? [
          `The hand-written site of ${host} becomes an entry of Drawbridge, without a gap, which passes it on to ${proxy.target}.`,
        ]
      : []),
    ...records.map(({ action, type, value }) =>
      action === 'keep'
        ? `The record ${type} ${value} of ${host} stays.`
        : `The name ${host} gets the record ${type} ${value}.`,
    ),
    'If any step fails, everything is put back.',
  ]
}
