import type { Cuts } from './cuts.ts'

/** Nothing acts without its lease, and nothing acts longer than it lives. */
export const LEASE_GUARDS: Cuts = {
  'a lease that has ended is not held': ['throw new LeaseLost(name)', 'continue'],
  'a lease is renewed while its holder works': ['void this.#renew()', 'undefined'],
  'a lease that the store did not renew is lost': ['renewed?.has(name) ? until : OVER', 'until'],
  'a clock that is set back prolongs no lease': [
    'Math.min(until.at - now.at, until.monotonic - now.monotonic)',
    'until.at - now.at',
  ],
  'the earliest of several leases decides': [
    'Math.min(...[...this.#heldUntil.values()]',
    'Math.max(...[...this.#heldUntil.values()]',
  ],
  'nothing is done under a lease after its work has ended':
    '    for (const { name } of this.#leases) this.#heldUntil.set(name, OVER)\n',
  'a renewal that is answered late does not bring a lease back': [
    'renewed ? held.filter(({ name }) => this.#heldUntil.get(name) !== OVER) : []',
    'renewed ? held : []',
  ],
  'leases of several hosts are taken in one order': ['[...new Set(names)].toSorted()', '[...new Set(names)]'],
  'a transaction that lost a deadlock is tried again': ['ROLLED_BACK_CODES.test(error.code', '/^$/.test(error.code'],
  'the claims of a run keep others away when the leases of its further hosts have run out':
    "      .where('run_id', 'is', null)\n",
  'recovery asks for the lease of the host of a run first': [
    '  if (!first) return undefined\n',
    "  if (!first) throw new Error('taken')\n",
  ],
  'the monitor asks for its lease before it writes statuses': [
    '    await this.#ensureHeld()\n    const changes',
    '    const changes',
  ],
  'a webhook asks for its lease before it stores a result': ['    this.#assertHeld()\n    const at', '    const at'],
  'an instance holds the lease of webhooks by both clocks': [
    'Math.min(this.#lease.expiresAt - clock.now(), this.#leaseEnds - clock.monotonic())',
    'this.#lease.expiresAt - clock.now()',
  ],
  'a delivery waits no longer than the longest pause': ", eb('next.due_at', '>', now + longestMs)",
  'a webhook that was exchanged begins no more deliveries': '    if (this.#hasEnded) return\n',
  'the lock of a certificate is not held after its work': '        held.stop()\n',
  'a DNS update is not sent without the lease': '    await guard?.ensureHeld()\n',
  'a DNS update is valid only while its lease lives': [
    'Math.min(CHANGE_FUDGE, wholeSeconds - 1)',
    'Math.min(CHANGE_FUDGE, wholeSeconds)',
  ],
  'a change on an edge asks for the lease of its run directly before the swap': '      work.options.assertHeld?.()\n',
  'an agent does not change anything after the lease of the run': ['throw new Late()', 'return'],
  'an agent makes a change once, however often it comes': '    if (known) return known\n',
  'an agent refuses a change that its sender has given up': '      this.#known.set(id, Promise.resolve(WITHDRAWN))\n',
}
