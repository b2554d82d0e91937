import type { Guard } from './guard.ts'

const LEASE = 'src/runs/engine/lease.ts'
const LEASE_TEST = 'test/unit/runs/lease.test.ts'
const SENT_TEST = 'test/integration/dns/dns-sent-update.test.ts'
const CHANGES = 'src/edge/agent/changes.ts'
const CHANGES_TEST = 'test/unit/edge/agent-changes.test.ts'
const GENERATION_TEST = 'test/integration/edge/edge-generation.test.ts'

/** Nothing acts without its lease, and nothing acts longer than it lives. */
export const LEASE_GUARDS: readonly Guard[] = [
  {
    name: 'a lease that has ended is not held',
    file: LEASE,
    from: 'throw new LeaseLost(name)',
    to: 'continue',
    breaks: 'A run that was paused would act beside the instance that took it over.',
    test: LEASE_TEST,
  },
  {
    name: 'a lease is renewed while its holder works',
    file: LEASE,
    from: 'void this.#renew()',
    to: 'undefined',
    breaks: 'A long run would be taken over while it works.',
    test: LEASE_TEST,
  },
  {
    name: 'a lease that the store did not renew is lost',
    file: LEASE,
    from: 'renewed?.has(name) ? asked + this.#lifeMs : 0',
    to: 'asked + this.#lifeMs',
    breaks: 'A run would go on under a lease that somebody else holds.',
    test: LEASE_TEST,
  },
  {
    name: 'the earliest of several leases decides',
    file: LEASE,
    from: 'Math.min(...this.#heldUntil.values())',
    to: 'Math.max(...this.#heldUntil.values())',
    breaks: 'A request would be valid for longer than one of the leases of its run.',
    test: LEASE_TEST,
  },
  {
    name: 'nothing is done under a lease after its work has ended',
    file: LEASE,
    from: '    for (const { name } of this.#leases) this.#heldUntil.set(name, 0)\n',
    to: '',
    breaks: 'A step that hangs would act after its run was given up.',
    test: LEASE_TEST,
  },
  {
    name: 'a renewal that is answered late does not bring a lease back',
    file: LEASE,
    from: 'renewed ? held.filter(({ name }) => this.#heldUntil.get(name) !== 0) : []',
    to: 'renewed ? held : []',
    breaks: 'A step that hangs would act after its run has ended and released its lease.',
    test: LEASE_TEST,
  },
  {
    name: 'a lock of an edge is not held after its work',
    file: 'src/runs/engine/edge-lock.ts',
    from: '        held.stop()\n',
    to: '',
    breaks: 'A lock that was given back would be renewed for ever.',
    test: LEASE_TEST,
  },
  {
    name: 'a DNS update is not sent without the lease',
    file: 'src/dns/rfc2136.ts',
    from: '    await guard?.ensureHeld()\n',
    to: '',
    breaks: 'A run that was taken over would change the zone.',
    test: SENT_TEST,
  },
  {
    name: 'a DNS update is valid only while its lease lives',
    file: 'src/dns/rfc2136.ts',
    from: 'Math.max(1, Math.min(FUDGE, Math.floor(guard.leftMs / 1000)))',
    to: 'FUDGE',
    breaks: 'An update that was held up on its way would act after another instance has taken over.',
    test: SENT_TEST,
  },
  {
    name: 'a change on an edge asks for the lease of its run directly before the swap',
    file: 'src/edge/generations/engine.ts',
    from: '      work.assertHeld()\n',
    to: '',
    breaks: 'A run that lost its lease while nginx tested its change would change the edge.',
    test: GENERATION_TEST,
  },
  {
    name: 'a change on an edge asks for the lock of the edge directly before the swap',
    file: 'src/edge/generations/engine.ts',
    from: '    turn.assertHeld()\n    return passing(',
    to: '    return passing(',
    breaks: 'Two instances would enter generations of one edge over each other.',
    test: GENERATION_TEST,
  },
  {
    name: 'an instance that lost the lock of the edge does not put back',
    file: 'src/edge/generations/engine.ts',
    from: '    } catch (error) {\n      turn.assertHeld()\n',
    to: '    } catch (error) {\n',
    breaks: 'The generation of another instance would be replaced by an older one.',
    test: GENERATION_TEST,
  },
  {
    name: 'an agent does not change anything after the lease of the run',
    file: CHANGES,
    from: 'throw new Late()',
    to: 'return',
    breaks: 'A change that waited at an agent would act after another instance has taken over.',
    test: CHANGES_TEST,
  },
  {
    name: 'an agent makes a change once, however often it comes',
    file: CHANGES,
    from: '    if (known) return known\n',
    to: '',
    breaks: 'A message that is sent again would be made again over what came after it.',
    test: CHANGES_TEST,
  },
  {
    name: 'an agent refuses a change that its sender has given up',
    file: CHANGES,
    from: '      this.#known.set(id, Promise.resolve(WITHDRAWN))\n',
    to: '',
    breaks: 'A message that was held up would act after its sender has counted it as not made.',
    test: CHANGES_TEST,
  },
]
