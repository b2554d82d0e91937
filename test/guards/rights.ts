import type { Guard } from './guard.ts'

const CAPABILITIES = 'src/store/queries/capabilities.ts'
const STORE_TEST = 'test/contract/store-on-sqlite.test.ts'
const EXPOSER_TEST = 'test/integration/runs/exposer.test.ts'
const CALLER = 'src/authorize/caller.ts'
const CALLER_TEST = 'test/unit/authorize/caller.test.ts'
const FLOWS = 'src/authorize/flows.ts'
const FLOWS_TEST = 'test/unit/authorize/flows.test.ts'
const HOST_CHECK = 'src/http/guard/host-check.ts'
const REQUEST_GUARD = 'src/http/guard/request-guard.ts'
const REQUEST_TEST = 'test/integration/interfaces/request-guard.test.ts'

const bound = (to: string, column: string, member: string): Guard => ({
  name: `a capability is bound to its ${to}`,
  file: CAPABILITIES,
  from: `      .where('${column}', '=', presented.${member})\n`,
  to: '',
  breaks: `A capability would be good for another ${to} than the one that it was issued for.`,
  test: STORE_TEST,
  filter: 'capabilities',
})

/** What a capability allows, and how a caller is told from another. */
export const RIGHT_GUARDS: readonly Guard[] = [
  bound('plan', 'plan_id', 'planId'),
  bound('digest', 'digest', 'digest'),
  bound('action', 'action', 'action'),
  bound('address', 'ip', 'ip'),
  {
    name: 'a list of options is not empty',
    file: 'src/model/options/read-options.ts',
    from: '    if (given.length === 0) throw new Unfit(EMPTY_LIST)\n',
    to: '',
    breaks: 'An access list without networks would be read as no access list, and open the host to everybody.',
    test: 'test/unit/model/option-grammar.test.ts',
  },
  {
    name: 'callers outside name neither an exposure to replace nor an owner nor a note',
    file: 'src/usecases/planner.ts',
    from: '    assertMaySay(request, caller)\n',
    to: '',
    breaks:
      'Anybody could plan a change of a host without its access list, and tell its administrators to apply the plan.',
    test: 'test/security/callers/plans-from-outside.test.ts',
  },
  {
    name: 'whoever knows the id of a plan does not see its access list',
    file: 'src/http/routes/plans.ts',
    from: "isInside || to === 'own' ? request : publicRequest(request)",
    to: 'request',
    breaks: 'A plan id that somebody finds would tell which networks may visit the host, its owner and its note.',
    test: 'test/security/callers/plans-from-outside.test.ts',
  },
  {
    name: 'a capability is used once',
    file: CAPABILITIES,
    from: "      .where('used_at', 'is', null)\n",
    to: '',
    breaks: 'A capability that was seen once could be used again.',
    test: STORE_TEST,
    filter: 'capabilities',
  },
  {
    name: 'a capability ends',
    file: CAPABILITIES,
    from: "'expires_at', '>'",
    to: "'issued_at', '<='",
    breaks: 'A capability that was forgotten somewhere would be good for ever.',
    test: STORE_TEST,
    filter: 'capabilities',
  },
  {
    name: 'a capability is good for five minutes',
    file: 'src/authorize/credentials.ts',
    from: 'CAPABILITY_TTL_SECONDS = 300',
    to: 'CAPABILITY_TTL_SECONDS = 3_600',
    breaks: 'A capability would be good for longer than the specification says.',
    test: EXPOSER_TEST,
  },
  {
    name: 'the store has only the hash of a capability',
    file: 'src/authorize/credentials.ts',
    from: "createHash('sha256').update(capability).digest('hex')",
    to: 'capability',
    breaks: 'Whoever can read the store could use the capabilities in it.',
    test: EXPOSER_TEST,
  },
  {
    name: 'a capability is proven before a run begins',
    file: 'src/authorize/admission.ts',
    from: "    if (proof.capability && action !== 'token') await proveCapability",
    to: "    if (proof.capability && action === 'token') await proveCapability",
    breaks: 'Every text in the header would be a right.',
    test: EXPOSER_TEST,
  },
  {
    name: 'a right that is only looked at is not spent',
    file: 'src/usecases/run-starter.ts',
    from: '      throw new Proved()\n',
    to: '',
    breaks: 'A release that is refused because the host differs would use up the capability.',
    test: EXPOSER_TEST,
  },
  {
    name: 'the administrator token is compared',
    file: 'src/authorize/admission.ts',
    from: '    if (proof.adminToken) this.#proveAdminToken(credentials.adminToken)\n',
    to: '',
    breaks: 'Every text in the header would be the token.',
    test: EXPOSER_TEST,
  },
  {
    name: 'without a configured administrator token none is valid',
    file: 'src/authorize/credentials.ts',
    from: "return equal && configured !== undefined && configured !== ''",
    to: 'return equal',
    breaks: 'An empty header would be the token of an installation that has none.',
    test: EXPOSER_TEST,
  },
  {
    name: 'only the internal network may change something',
    file: FLOWS,
    from: "  if (presented.network === 'internal' || hasLegacyToken) return\n",
    to: '  return\n',
    breaks: 'Everybody on the Internet could ask for a change.',
    test: FLOWS_TEST,
  },
  {
    name: 'the administrator token replaces a capability only where that is configured',
    file: FLOWS,
    from: "rules.adminToken === 'internal' && ",
    to: '',
    breaks: 'The token would open what the configuration has closed.',
    test: FLOWS_TEST,
  },
  {
    name: 'the administrator token replaces a capability only for apply and remove',
    file: FLOWS,
    from: " && (action === 'apply' || action === 'remove')",
    to: '',
    breaks: 'Break-glass would cover more than the specification says.',
    test: FLOWS_TEST,
  },
  {
    name: 'X-Forwarded-For of an untrusted peer is not believed',
    file: CALLER,
    from: 'if (this.#trusted.has(peer)) {',
    to: "if (this.#trusted.has(peer) || headers['x-forwarded-for'] !== undefined) {",
    breaks: 'Everybody could call himself an address of the internal network.',
    test: CALLER_TEST,
  },
  {
    name: 'an untrusted peer with headers of a proxy is public',
    file: CALLER,
    from: "return { address: peer, network: 'public', unconfiguredProxy: true }",
    to: 'return { address: peer, network: this.#networkOf(peer), unconfiguredProxy: true }',
    breaks: 'A proxy inside that nobody configured would give its own rights to the Internet.',
    test: CALLER_TEST,
  },
  {
    name: 'a trusted proxy that names no client is public',
    file: CALLER,
    from: "{ address: peer, network: 'public', unconfiguredProxy: false }",
    to: '{ address: peer, network: this.#networkOf(peer), unconfiguredProxy: false }',
    breaks: 'A trusted proxy would give its own rights to callers that it does not name.',
    test: CALLER_TEST,
  },
  {
    name: 'the Host header has to name this service',
    file: HOST_CHECK,
    from: 'if (!this.#isOurHost(request, ours)) {',
    to: 'if (false) {',
    breaks: 'A page of somebody else could reach the service by DNS rebinding.',
    test: REQUEST_TEST,
  },
  {
    name: 'a request has one Host header',
    file: HOST_CHECK,
    from: 'return hosts.length === 1 ? hosts[0] : undefined',
    to: 'return hosts[0]',
    breaks: 'A proxy before the service could judge another host than the service.',
    test: REQUEST_TEST,
  },
  {
    name: 'the Origin of a browser has to be this service',
    file: HOST_CHECK,
    from: 'if (origin !== undefined && !ours.has(origin.toLowerCase())) {',
    to: 'if (false) {',
    breaks: 'A page of somebody else could let the browser of an administrator change something.',
    test: REQUEST_TEST,
  },
  {
    name: 'internal routes are closed to the Internet',
    file: REQUEST_GUARD,
    from: "    if (internalOnly && request.caller.network !== 'internal') throw fromOutside()\n",
    to: '',
    breaks: 'The audit and the events could be read from outside.',
    test: REQUEST_TEST,
  },
  {
    name: 'the network of a caller is judged before its body is read',
    file: REQUEST_GUARD,
    from: '    admission.checkNetwork(request.caller, credentials)\n',
    to: '',
    breaks: 'A caller from outside would get as far as the credentials.',
    test: REQUEST_TEST,
  },
  {
    name: 'guessing credentials is slow',
    file: REQUEST_GUARD,
    from: '      budgets.refuseAfterFailures(request)\n',
    to: '      undefined\n',
    breaks: 'An address could try credentials without end.',
    test: REQUEST_TEST,
  },
]
