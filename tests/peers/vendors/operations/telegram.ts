// The operations of Telegram that are judged, with grammY's types of its Bot API.
import type { ApiMethods } from "@grammyjs/types";

type Methods = ApiMethods<unknown>;
type Call<M extends keyof Methods> = {
    body: Parameters<Methods[M]>[0];
    answers: { 200: { ok: true; result: ReturnType<Methods[M]> } };
};

// What reads can be asked by GET, with the arguments in the query.
type Read<M extends keyof Methods> = { query: NonNullable<Parameters<Methods[M]>[0]>; answers: Call<M>["answers"] };

export interface Operations {
    "GET /bot{token}/getMe": Read<"getMe">;
    "GET /bot{token}/getChat": Read<"getChat">;
    "GET /bot{token}/getChatMember": Read<"getChatMember">;
    "POST /bot{token}/sendLivePhoto": Call<"sendLivePhoto">;
    "POST /bot{token}/getMe": Call<"getMe">;
    "POST /bot{token}/getChat": Call<"getChat">;
    "POST /bot{token}/getChatMember": Call<"getChatMember">;
    "POST /bot{token}/sendMessage": Call<"sendMessage">;
    "POST /bot{token}/sendPhoto": Call<"sendPhoto">;
    "POST /bot{token}/sendVideo": Call<"sendVideo">;
    "POST /bot{token}/sendAnimation": Call<"sendAnimation">;
    "POST /bot{token}/sendDocument": Call<"sendDocument">;
    "POST /bot{token}/sendAudio": Call<"sendAudio">;
    "POST /bot{token}/sendMediaGroup": Call<"sendMediaGroup">;
    "POST /bot{token}/sendPoll": Call<"sendPoll">;
    "POST /bot{token}/deleteMessage": Call<"deleteMessage">;
    "POST /bot{token}/editMessageText": Call<"editMessageText">;
    "POST /bot{token}/editMessageCaption": Call<"editMessageCaption">;
}
