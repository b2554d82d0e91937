/** An ACME http-01 challenge that an edge answers for a served host. */
export interface Challenge {
  readonly token: string
  readonly answer: string
}

const TOKEN = /^[A-Za-z0-9_-]{1,256}$/
const KEY_AUTHORIZATION = /^[A-Za-z0-9_-]{1,256}\.[A-Za-z0-9_-]{1,256}$/

/** Check it: an authority chooses the token, and the web server reads it. */
export const isChallenge = ({ token, answer }: Challenge): boolean =>
  TOKEN.test(token) && KEY_AUTHORIZATION.test(answer)
