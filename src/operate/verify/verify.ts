import { verifyBooks } from './books.ts'
import { verifyEdges } from './edges.ts'
import { PROMISES, type Verified, type VerifyParts } from './evidence.ts'
import { verifyHosts } from './hosts.ts'
import { verifyNames } from './names.ts'

/** Looks at store, edges, DNS, certificates and audit chain, and says which promise is broken. */
export async function verify(parts: VerifyParts): Promise<Verified> {
  const books = await verifyBooks(parts)
  const edges = [parts.primary, parts.secondary].filter((edge) => edge !== undefined)
  const evidence = [
    ...books.evidence,
    ...(await verifyHosts(books, parts)),
    ...(await Promise.all(edges.map((edge) => verifyEdges(edge, books, edge === parts.primary)))).flat(),
    ...(await verifyNames(books, parts)),
  ]
  const order = Object.keys(PROMISES)
  return {
    evidence: evidence.toSorted((a, b) => order.indexOf(a.promise) - order.indexOf(b.promise)),
    looked: { hosts: books.exposures.size, edges: edges.length, runs: books.runs, auditLines: books.auditLines },
    underWay: [...books.underWay],
  }
}
