import type { Guard } from './guard.ts'

const BUDGET = 'src/certificates/budget/budget.ts'
const ORDERS = 'src/certificates/budget/order-budget.ts'
const PAIR = 'src/certificates/stock/pair.ts'
const BUDGET_TEST = 'test/unit/certificates/budget.test.ts'
const ORDERS_TEST = 'test/unit/certificates/order-budget.test.ts'
const PAIR_TEST = 'test/integration/certificates/certificate-pair.test.ts'

/** An authority is not asked too often, and a pair that does not fit is not used. */
export const CERTIFICATE_GUARDS: readonly Guard[] = [
  {
    name: 'a limit of the authority is not exceeded',
    file: BUDGET,
    from: 'if (worst && worst.waitMs > 0) {',
    to: 'if (false) {',
    breaks: 'One installation could use up the certificates of a whole domain for a week.',
    test: BUDGET_TEST,
  },
  {
    name: 'a failure is followed by a pause',
    file: BUDGET,
    from: 'if (restMs > 0) {',
    to: 'if (false) {',
    breaks: 'An order that fails would be repeated until the authority closes the account.',
    test: BUDGET_TEST,
  },
  {
    name: 'an order is judged when it is placed',
    file: ORDERS,
    from: '        assertAllowed(await judge(request, session), directory)\n',
    to: '',
    breaks: 'Two orders that were planned together would both be placed.',
    test: ORDERS_TEST,
  },
  {
    name: 'an order is counted before it is placed',
    file: ORDERS,
    from: "        await session.appendLedger({ ...line(request.names), kind: 'ordered' })\n",
    to: '',
    breaks: 'Orders that a crash interrupts would not count.',
    test: ORDERS_TEST,
  },
  {
    name: 'the authority decides how long to wait',
    file: ORDERS,
    from: '          await session.pauseAuthority(directory, { newOrders: until, everything: isExempt ? until : 0 })\n',
    to: '',
    breaks: 'An authority that asks for a pause would be asked again.',
    test: ORDERS_TEST,
  },
  {
    name: 'an issued certificate is for the key of its order',
    file: PAIR,
    from: "  if (publicKeyDigest(leaf.publicKey) !== keyDigest(keyPem)) throw new UnusablePemFile('is for another key')\n",
    to: '',
    breaks: 'nginx would refuse the pair at its next start.',
    test: PAIR_TEST,
  },
  {
    name: 'an issued certificate covers the names of its order',
    file: PAIR,
    from: '  if (missing) throw new UnusablePemFile(',
    to: '  if (false) throw new UnusablePemFile(',
    breaks: 'A host would be served with the certificate of another name.',
    test: PAIR_TEST,
  },
  {
    name: 'a pair that was replaced on the disk is not used',
    file: PAIR,
    from: "  if (leaf?.fingerprint256 !== fingerprint) throw unusable(certificateFile, 'has another certificate than before')\n",
    to: '  if (!leaf) throw unusable(certificateFile, "")\n',
    breaks: 'A certificate that no plan has named would be put on an edge.',
    test: PAIR_TEST,
  },
  {
    name: 'the key of a pair belongs to its certificate',
    file: PAIR,
    from: 'keys.find((text) => keyDigest(text) === wanted)',
    to: 'keys[0]',
    breaks: 'The wrong one of several keys would be put on an edge.',
    test: PAIR_TEST,
  },
  {
    name: 'a sealed secret cannot stand in the place of another',
    file: 'src/certificates/vault/vault.ts',
    from: 'Buffer.from(JSON.stringify([name, keyId]))',
    to: 'Buffer.from(keyId)',
    breaks: 'Whoever can write to the store could give a host the key of another one.',
    test: 'test/integration/certificates/vault.test.ts',
  },
  {
    name: 'a folder of too many files is told',
    file: 'src/certificates/stock/inventory-findings.ts',
    from: '  if (cutFrom === undefined) return []\n',
    to: '  if (cutFrom !== undefined) return []\n',
    breaks: 'A certificate beyond the limit would be ordered again, and nobody would know why.',
    test: 'test/integration/certificates/certificate-inventory.test.ts',
    filter: 'up to a limit',
  },
  {
    name: 'an issued certificate of the index is given only if its files are there',
    file: 'src/certificates/stock/inventory.ts',
    from: 'if (!first?.issued || issued === undefined || (await isUnchanged(index, first))) return first',
    to: 'if (first || issued === undefined) return first',
    breaks: 'A host would be given a certificate whose key is gone, instead of a new one.',
    test: 'test/integration/certificates/certificate-inventory.test.ts',
    filter: 'files have gone',
  },
  {
    name: 'the inventory reads the folders of the names that were installed',
    file: 'src/certificates/stock/inventory.ts',
    from: '[...again, ...names.flatMap((name) => foldersOfName(issued, name))]',
    to: '[...again]',
    breaks: 'A certificate that was just issued would not be found, and ordered again.',
    test: 'test/integration/certificates/certificate-inventory.test.ts',
    filter: 'of all folders only those of new names are read',
  },
  {
    name: 'the inventory looks for a pair where its former one is put',
    file: 'src/certificates/stock/issued-files.ts',
    from: "  ...foldersOfName(issued, basename(dirname(file)).replace('_wildcard', '*')),\n",
    to: '',
    breaks: 'A host whose certificate was just renewed would lose the one in use, and get another one.',
    test: 'test/integration/certificates/certificate-inventory.test.ts',
    filter: 'wherever it is by now',
  },
  {
    name: 'the times at which certificates are stored grow whatever the clocks of instances say',
    file: 'src/certificates/vault/shared-pairs.ts',
    from: 'Math.max(now(), (await session.newestCertificate()) + 1)',
    to: 'now()',
    breaks: 'An instance whose clock is ahead would never get the certificates that another one ordered.',
    test: 'test/integration/certificates/vault.test.ts',
    filter: 'whatever its clock says',
  },
]
