import type { Guard } from './guard.ts'

const CLIENT = 'src/edge/remote/agent-client.ts'
const VIEW = 'src/edge/remote/remote-view.ts'
const LIES_TEST = 'test/security/agent/lying-agent.test.ts'

/** What a service and an edge agent do not believe of each other. */
export const AGENT_GUARDS: readonly Guard[] = [
  {
    name: 'an edge refuses an epoch of the far future',
    file: 'src/edge/files/fences.ts',
    from: '      assertNotAhead(fence, this.#now())\n',
    to: '',
    breaks: 'A stolen service could end all changes of an edge for ever.',
    test: 'test/integration/edge/edge-fences.test.ts',
  },
  {
    name: 'a service believes no epoch of the far future',
    file: 'src/compose/machine/edge-epoch.ts',
    from: 'believedEpoch(server, (await client.describe()).epoch)',
    to: '(await client.describe()).epoch',
    breaks: 'One lying agent could end all changes of every edge for ever.',
    test: 'test/integration/compose/edge-epoch.test.ts',
  },
  {
    name: 'only an accepted certificate of an agent is replaced',
    file: 'src/edge/authority/trust.ts',
    from: '      if (!enrolled.includes(former))\n',
    to: '      if (enrolled.includes(former) && false)\n',
    breaks: 'A revoked agent would be accepted again by a replacement under way.',
    test: 'test/security/agent/agent-certificates.test.ts',
  },
  {
    name: 'pairs of the store are installed under their own names',
    file: 'src/certificates/vault/shared-pairs.ts',
    from: '.filter(isOfItsName)',
    to: '',
    breaks: 'Whoever writes to the store could replace the pair of another host.',
    test: 'test/integration/certificates/vault.test.ts',
  },
  {
    name: 'a rebuild keeps only names that cover the host',
    file: 'src/operate/keep/served-certificate.ts',
    from: '.filter((name) => isCertificateName(name) && coversHost([name], host))',
    to: '',
    breaks: 'A lying agent could choose the names of the next certificate.',
    test: 'test/unit/operate/served-certificate.test.ts',
  },
  {
    name: 'a host is changed through an agent only under its fence',
    file: 'src/edge/agent/changes.ts',
    from: '        assertFenced(files, fences)\n',
    to: '',
    breaks: 'A run that another one has overtaken would change a host unseen.',
    test: 'test/unit/edge/agent-changes.test.ts',
  },
  {
    name: 'the words of an agent are quoted',
    file: CLIENT,
    from: 'quoteText(sentence))',
    to: 'sentence)',
    breaks: 'A lying agent could give instructions to models and terminals.',
    test: LIES_TEST,
  },
  {
    name: 'the answer of an agent to a change has a bound',
    file: CLIENT,
    from: '        if (length > MOST_CHANGE_ANSWER) ',
    to: '        if (length > Number.MAX_VALUE) ',
    breaks: 'A lying agent could stall the service with an answer that never ends.',
    test: LIES_TEST,
  },
  {
    name: 'the service visits configured addresses only',
    file: VIEW,
    from: '(isAt(known, listenAddress) ? direct.visit(question) : UNREACHABLE)',
    to: 'direct.visit(question)',
    breaks: 'A lying agent could send the service to any address.',
    test: LIES_TEST,
  },
]
