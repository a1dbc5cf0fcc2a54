// The operations of Telegram that are judged, with grammY's types of its Bot API.
import type { ApiMethods } from "@grammyjs/types";

type Methods = ApiMethods<unknown>;
type Call<M extends keyof Methods> = {
    body: Parameters<Methods[M]>[0];
    answers: { 200: { ok: true; result: ReturnType<Methods[M]> } };
};

export interface Operations {
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
