/** A self-signed certificate for tests, made anew each time: no key lies in the repository. */

import { createPrivateKey, generateKeyPairSync, sign } from "node:crypto";

export function makeCertificate(): { cert: string; key: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const ecdsaSha256 = sequence(oid("2a8648ce3d040302"));
  const name = sequence(set(sequence(oid("550403"), der(0x0c, Buffer.from("127.0.0.1")))));
  const validity = sequence(time("200101000000Z"), time("491231235959Z"));
  // 127.0.0.1 as an alternative name, which is the one that clients look at.
  const alternative = sequence(oid("551d11"), der(0x04, sequence(der(0x87, Buffer.from([127, 0, 0, 1])))));
  const signed = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ecdsaSha256,
    name,
    validity,
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(alternative)),
  );
  const signature = sign("sha256", signed, createPrivateKey(privateKey.export({ type: "pkcs8", format: "pem" })));
  const certificate = sequence(signed, ecdsaSha256, der(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = certificate.toString("base64").replace(/.{64}/g, "$&\n");
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
  };
}

function der(tag: number, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const size = body.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}

function sequence(...content: Buffer[]): Buffer {
  return der(0x30, ...content);
}

function set(...content: Buffer[]): Buffer {
  return der(0x31, ...content);
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, "hex"));
}

function time(text: string): Buffer {
  return der(0x17, Buffer.from(text));
}
