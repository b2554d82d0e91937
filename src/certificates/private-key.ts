import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { IssueFault } from './contract.ts'
import { readIfThere, writePrivateFile } from './private-file.ts'

/** The key in the file, as PEM; a new one (ECDSA P-256) where there is none. */
export async function keyIn(file: string): Promise<string> {
  const standing = await readIfThere(file)
  if (standing !== undefined)
    return checkedKey(standing, `The file ${file} holds no private key; move it away to have a new one made.`)
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  await writePrivateFile(file, pem)
  return pem
}

/** The same text; rejected in these words when it is no private key. */
export function checkedKey(pem: string, otherwise: string): string {
  try {
    createPrivateKey(pem)
    return pem
  } catch {
    throw new IssueFault('local', otherwise)
  }
}
