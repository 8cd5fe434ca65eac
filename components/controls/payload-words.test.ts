/** ID-9: a body can be restricted while it is there, given back while it is restricted, and erased in both states once. */
import { expect, it } from "vitest";
import { commandPath, viewPath } from "./control-request.ts";
import { liftRefusal, readUsers, restrictRefusal } from "./payload-words.ts";
import { tailOf, tailProblem } from "./typed-name.ts";

const DELIVERY = "dlv_01a22d0000007000800000000097abcd";
const refused = { retryNow: null, cancel: null, willNotReplay: null, erase: null };
const payload = { id: "pay_1", erased: false, restricted: false, sizeBytes: 12 };

it("a body that is there may be restricted, and not given back", () => {
  expect(restrictRefusal({ payload, refused })).toBeNull();
  expect(liftRefusal({ payload, refused })).toBe("The body is not restricted.");
});

it("a restricted body may be given back, and not restricted once more", () => {
  const restricted = { payload: { ...payload, restricted: true }, refused };
  expect(restrictRefusal(restricted)).toBe("The body is restricted already.");
  expect(liftRefusal(restricted)).toBeNull();
});

it("what cannot be erased any more cannot be restricted either, in the words of the API", () => {
  const gone = { payload, refused: { ...refused, erase: "The body was erased already." } };
  expect(restrictRefusal(gone)).toBe("The body was erased already.");
});

it("the end of the id is typed, and nothing else passes", () => {
  expect(tailOf(DELIVERY)).toBe("97abcd");
  expect(tailProblem(" 97ABCD ", DELIVERY)).toBeNull();
  for (const typed of ["", "erase", "97abc", DELIVERY]) {
    expect(tailProblem(typed, DELIVERY), typed).toBe("Type 97abcd, the end of the delivery's id.");
  }
});

it("its state is read with the delivery, and the command goes to the payload", () => {
  const target = {
    kind: "payload",
    region: "eu",
    id: "pay_1",
    name: "the body of delivery dlv_1",
    deliveryId: "dlv_1",
  } as const;
  expect(viewPath(target)).toBe("/api/v1/deliveries/dlv_1/control?region=eu");
  expect(commandPath({ target, verb: "erase" })).toBe("/api/v1/payloads/pay_1/erase?region=eu");
});

it("a count that an answer does not name is zero", () => {
  expect(readUsers({ erased: true, waiting: 2, dead: 1 })).toEqual({
    waiting: 2,
    dead: 1,
    leased: 0,
    delivered: 0,
  });
});
