import type { Cuts } from './cuts.ts'

/** What a capability allows, and how a caller is told from another. */
export const RIGHT_GUARDS: Cuts = {
  'a capability is bound to its plan': "      .where('plan_id', '=', presented.planId)\n",
  'a capability is bound to its digest': "      .where('digest', '=', presented.digest)\n",
  'a capability is bound to its action': "      .where('action', '=', presented.action)\n",
  'a capability is bound to its address': "      .where('ip', '=', presented.ip)\n",
  'a list without a value is not its default': '  Type.IsArray(schema) ||\n',
  'a list of options is not empty': '    if (given.length === 0) throw new Unfit(EMPTY_LIST)\n',
  'callers outside name neither an exposure to replace nor an owner nor a note': '    assertMaySay(request, caller)\n',
  'a diagnosis does not tell the public that a run is blocked': [
    "audience.network === 'internal' ? inspected : withoutBlock(inspected)",
    'inspected',
  ],
  'whoever knows the id of a plan does not see its access list': [
    "isInside || to === 'own' ? request : publicRequest(request)",
    'request',
  ],
  'the lines of a file are shown to root and the owner of the edge only': ' || (user !== 0 && user !== owner)',
  'a capability is used once': "      .where('used_at', 'is', null)\n",
  'a capability ends': ["'expires_at', '>'", "'issued_at', '<='"],
  'a capability is good for five minutes': ['CAPABILITY_TTL_SECONDS = 300', 'CAPABILITY_TTL_SECONDS = 3_600'],
  'the store has only the hash of a capability': [
    "createHash('sha256').update(capability).digest('hex')",
    'capability',
  ],
  'a capability is proven before a run begins': [
    "    if (proof.capability && action !== 'token') await proveCapability",
    "    if (proof.capability && action === 'token') await proveCapability",
  ],
  'a right that is only looked at is not spent': '      throw new Proved()\n',
  'the administrator token is compared': '    if (proof.adminToken) this.#proveAdminToken(credentials.adminToken)\n',
  'without a configured administrator token none is valid': [
    "return equal && configured !== undefined && configured !== ''",
    'return equal',
  ],
  'only the internal network may change something': [
    "  if (presented.network === 'internal' || hasLegacyToken) return\n",
    '  return\n',
  ],
  'the administrator token replaces a capability only where that is configured': "rules.adminToken === 'internal' && ",
  'the administrator token replaces a capability only for apply and remove':
    " && (action === 'apply' || action === 'remove')",
  'X-Forwarded-For of an untrusted peer is not believed': [
    'if (this.#trusted.has(peer)) {',
    "if (this.#trusted.has(peer) || headers['x-forwarded-for'] !== undefined) {",
  ],
  'an untrusted peer with headers of a proxy is public': [
    "return { address: peer, network: 'public', unconfiguredProxy: true }",
    'return { address: peer, network: this.#networkOf(peer), unconfiguredProxy: true }',
  ],
  'a trusted proxy that names no client is public': [
    "{ address: peer, network: 'public', unconfiguredProxy: false }",
    '{ address: peer, network: this.#networkOf(peer), unconfiguredProxy: false }',
  ],
  'the Host header has to name this service': ['if (!this.#isOurHost(request, ours)) {', 'if (false) {'],
  'a request has one Host header': ['return hosts.length === 1 ? hosts[0] : undefined', 'return hosts[0]'],
  'the Origin of a browser has to be this service': [
    'if (origin !== undefined && !ours.has(origin.toLowerCase())) {',
    'if (false) {',
  ],
  'internal routes are closed to the Internet':
    "    if (internalOnly && request.caller.network !== 'internal') throw fromOutside()\n",
  'the network of a caller is judged before its body is read':
    '    admission.checkNetwork(request.caller, credentials)\n',
  'guessing credentials is slow': ['      budgets.refuseAfterFailures(request)\n', '      undefined\n'],
  'a window of requests that a clock that was ahead has begun is over': [
    ' and request_counts.window_end <= ',
    ' and 0 < ',
  ],
}
